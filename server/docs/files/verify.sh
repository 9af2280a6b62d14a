# verify.sh
case $TIMESTAMP in '' | *[!0-9]*) echo forged; exit 1 ;; esac
age=$(($(date +%s) - TIMESTAMP))
if [ "$age" -ge 300 ] || [ "$age" -le -300 ]; then echo old; exit 1; fi
key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
right=v1,$({ printf '%s.%s.' "$ID" "$TIMESTAMP"; cat "$BODY"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
case " $SIGNATURE " in *" $right "*) echo genuine ;; *) echo forged; exit 1 ;; esac
