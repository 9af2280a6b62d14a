import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { Time } from "../../ui/data/time.tsx";

/** A sentence with the time and address of the last use, shown before a key is rotated or revoked. */
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
