/* An agent that does nothing, as fast as a program can: what is left of an iteration is the loop's own cost. For us it goes
   on; the marker is for loops that work off a list of tasks: this one is done. */
#include <stdio.h>
#ifdef TIMES
#include <time.h>
#endif

int main(void) {
#ifdef TIMES
  /* When it was started, for whoever asks how long a loop waits in between. */
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  FILE *times = fopen(TIMES, "a");
  if (times) {
    fprintf(times, "%ld.%06ld\n", (long)now.tv_sec, now.tv_nsec / 1000);
    fclose(times);
  }
#endif
  int c;
  while ((c = getchar()) != EOF) {}
  puts("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"bench\"}");
  puts("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<promise>COMPLETE</promise>\\n```json\\n{\\\"status\\\":\\\"continue\\\",\\\"summary\\\":\\\"did nothing\\\"}\\n```\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
  return 0;
}
