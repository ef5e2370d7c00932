/* An agent that does nothing, as fast as a program can: the rest of an iteration is the loop's own cost. For Ralph it
 continues: it completes the given step and adds another one. The marker is for loops that work through a list of tasks: it
 marks this one as done. */
#include <stdio.h>
#include <string.h>
#ifdef TIMES
#include <time.h>
#endif

int main(void) {
#ifdef TIMES
  /* Records its start, to measure how long a loop waits in between. */
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  FILE *times = fopen(TIMES, "a");
  if (times) {
    fprintf(times, "%ld.%06ld\n", (long)now.tv_sec, now.tv_nsec / 1000);
    fclose(times);
  }
#endif
  static const char heading[] = "## Current step: ";
  char line[4096], step[64] = "";
  while (fgets(line, sizeof line, stdin))
    if (!*step && !strncmp(line, heading, sizeof heading - 1)) sscanf(line + sizeof heading - 1, "%63s", step);
  puts("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"bench\"}");
  if (*step) {
    printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"```json\\n{\\\"status\\\":\\\"continue\\\",\\\"summary\\\":\\\"did one thing\\\",\\\"completedStepIds\\\":[\\\"%s\\\"],\\\"pendingSteps\\\":[{\\\"id\\\":null,\\\"prompt\\\":\\\"do what was found after %s, and say what was done\\\"}]}\\n```\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n", step, step);
    return 0;
  }
  puts("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<promise>COMPLETE</promise>\\n```json\\n{\\\"status\\\":\\\"continue\\\",\\\"summary\\\":\\\"did nothing\\\"}\\n```\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
  return 0;
}
