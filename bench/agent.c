/* An agent that does nothing, as fast as a program can: what is left of an iteration is the loop's own cost. */
#include <stdio.h>

int main(void) {
  int c;
  while ((c = getchar()) != EOF) {}
  puts("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"bench\"}");
  puts("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"```json\\n{\\\"status\\\":\\\"continue\\\",\\\"summary\\\":\\\"did nothing\\\"}\\n```\",\"session_id\":\"s\",\"total_cost_usd\":0,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
  return 0;
}
