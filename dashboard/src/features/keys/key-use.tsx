import type { ApiKey } from "../../../../server/wire/key.ts";
import { Time } from "../../ui/time.tsx";

/** Who used a key last, in a sentence: what one wants to know before one ends it. */
export function KeyUse({ apiKey }: { apiKey: ApiKey }) {
  if (!apiKey.last_used_at) return <>It was never used.</>;
  return (
    <>
      Last used{" "}
      <b>
        <Time at={apiKey.last_used_at} />
      </b>
      {apiKey.last_used_ip && (
        <>
          {" "}
          from <b>{apiKey.last_used_ip}</b>
        </>
      )}
      .
    </>
  );
}
