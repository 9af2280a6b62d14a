import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { oauthClientApi } from "../../entities/oauth/oauth-api.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { isNotFound } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Select } from "../../ui/forms/select.tsx";
import { discovered } from "./tool-auth.ts";
import type { CommonDraft } from "./types/tool-part.ts";

/** The OAuth client whose token every call carries. `canDiscover`: the server can name one by itself. */
export function AuthField({
  draft: { auth, auth_per_user },
  fieldErrors: { auth: fault },
  set,
  canDiscover = false,
}: Pick<Fields<CommonDraft>, "draft" | "fieldErrors" | "set"> & { canDiscover?: boolean }) {
  const at = useWorkspace();
  const known = useQuery(oauthClientApi.every(at)).data ?? [];
  const hasClient = auth !== "" && auth !== discovered;
  // One that was discovered a moment ago is not in the list yet.
  const isMissing = hasClient && !known.some(({ id }) => id === auth);
  const missing = useQuery({ ...oauthClientApi.one(at, auth), enabled: isMissing, retry: false });
  const group = "OAuth client";
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Select
        label="OAuth"
        value={hasClient || canDiscover ? auth : ""}
        choices={[
          { value: "", label: "None" },
          ...(canDiscover ? [{ value: discovered, label: "By discovery: the server names where to consent" }] : []),
          ...(isMissing ? [{ value: auth, label: nameOf(auth, missing), group }] : []),
          ...known.map(({ id, name }) => ({ value: id, label: name, group })),
        ]}
        onChoose={(next) => set({ auth: next })}
        aria-invalid={fault ? true : undefined}
      />
      {auth === discovered && canDiscover && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={auth_per_user}
            onChange={(event) => set({ auth_per_user: event.target.checked })}
          />
          Each user connects an own account
        </label>
      )}
      {fault && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {fault}
        </p>
      )}
      <p className="text-xs text-muted">
        Calls carry its token.{" "}
        {hasClient ? (
          <Link to="/oauth_clients/$oauthClientId" params={{ oauthClientId: auth }} className={link}>
            Grants of this client
          </Link>
        ) : (
          <Link to="/oauth_clients" className={link}>
            OAuth clients
          </Link>
        )}
      </p>
    </div>
  );
}

const link = "text-accent underline underline-offset-2";

const nameOf = (id: string, { data, error }: { data: { name: string } | undefined; error: Error | null }): string =>
  data?.name ?? (isNotFound(error) ? `A deleted client (${id})` : id);
