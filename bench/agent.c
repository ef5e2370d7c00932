/* An agent that does nothing, as fast as a program can: what is left of an iteration is the loop's own cost. For us it goes
   on; the marker is for loops that work off a list of tasks: this one is done. */
#include <stdio.h>

int main(void) {
  int c;
  while ((c = getchar()) != EOF) {}
  puts("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"bench\"}");
  puts("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<promise>COMPLETE</promise>\\n```json\\n{\\\"status\\\":\\\"continue\\\",\\\"summary\\\":\\\"did nothing\\\"}\\n```\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
  return 0;
}
