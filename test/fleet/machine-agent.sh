# An agent for fleet tests. Its prompt says what to do, one word per line:
#   effect NAME   one line into the file of effects (given as $1)
#   sleep N       so many seconds
#   say TEXT      the final message
effects=$1
said=ok
while read -r word rest || [ -n "$word" ]; do
  case $word in
    effect) echo "$rest" >>"$effects" ;;
    sleep) sleep "$rest" ;;
    say) said=$rest ;;
  esac
done
printf '%s\n' '{"type":"system","subtype":"init","model":"fake","session_id":"s1"}'
printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]},"session_id":"s1"}\n' "$said"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.01,"session_id":"s1"}\n' "$said"
