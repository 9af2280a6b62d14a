import { CopyButton } from "../../ui/data/copy-button.tsx";
import { usePublicUrl } from "../session/use-public-url.ts";

/** The redirect address that is registered at authorization servers. */
export function RedirectAddress() {
  const address = `${usePublicUrl()}/oauth/callback`;
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-0.5">
      <code className="cut" title={address}>
        {address}
      </code>
      <CopyButton text={address} what="the redirect address" />
    </span>
  );
}
