import { useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/wire/key.ts";
import type { MadeKey } from "../../entities/key/key-api.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/toast.ts";
import { ChangeOverlap } from "./change-overlap.tsx";
import { CreateKey } from "./create-key.tsx";
import { EndOverlap } from "./end-overlap.tsx";
import { KeyDetails } from "./key-details.tsx";
import { isUsable, keyState } from "./key-state.ts";
import { RevealKey } from "./reveal-key.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";
import type { KeyAct } from "./use-key-acts.ts";

/** The dialog of what is being done. What was made goes on to be revealed. */
export function KeyDialogs({
  act,
  keys,
  mayChange,
  onAct,
}: {
  act: KeyAct | null;
  keys: readonly ApiKey[];
  mayChange: boolean;
  onAct: (act: KeyAct | null) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const close = () => onAct(null);
  const reveal = (made: MadeKey) => onAct({ kind: "reveal", made });
  if (!act) return null;
  if (act.kind === "create") return <CreateKey key={at.mode} onClose={close} onCreated={reveal} />;
  if (act.kind === "reveal") {
    const stored = () => {
      toast(act.made.previous ? "Key rotated" : "Key created", act.made.name);
      void client.invalidateQueries(keyApi.all(at)); // It may have been used by now.
      close();
    };
    return <RevealKey made={act.made} onStored={stored} />;
  }
  // What came meanwhile, above all its last use, is shown in the dialog too.
  const key = keys.find(({ id }) => id === act.key.id) ?? act.key;
  switch (act.kind) {
    case "details":
      return <KeyDetails apiKey={key} mayChange={mayChange} onClose={close} />;
    case "rotate":
      return <RotateKey apiKey={key} onClose={close} onRotated={reveal} />;
    case "overlap":
      return <ChangeOverlap apiKey={key} onClose={close} />;
    case "end":
      return <EndOverlap apiKey={key} successor={keys.find(({ id }) => id === key.rotated_to)} onClose={close} />;
    case "revoke": {
      const made = keys.filter((other) => other.created_by === key.id && isUsable(other, Date.now())).length;
      const canRotate = ["active", "exposed"].includes(keyState(key, Date.now()));
      return (
        <RevokeKey
          apiKey={key}
          made={made}
          onClose={close}
          onRotate={canRotate ? () => onAct({ kind: "rotate", key }) : undefined}
        />
      );
    }
  }
}
