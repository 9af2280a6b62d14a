import { useState } from "react";
import type { Person } from "../../../../server/domain/api-types/console.ts";
import type { Role } from "../../../../server/domain/api-types/enums.ts";
import { peopleQuery, setRole } from "../../entities/server/server-api.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { useSessionUser } from "../../entities/session/use-may.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";

const roleNames: Record<Role, string> = { viewer: "Viewer", member: "Member", owner: "Owner" };
const withArticle: Record<Role, string> = { viewer: "a viewer", member: "a member", owner: "an owner" };
const rights: Record<Role, string> = {
  viewer: "A viewer can read everything in all projects and change nothing.",
  member: "A member works in all projects, in test and in live: agents, runs, approvals, API keys, files.",
  owner:
    "An owner can do everything, including removing people, changing connections and prices, and deleting projects.",
};

/** Role of a person. Asks before saving, because arrow keys change the selection too. */
export function RoleSelect({ person, disabled }: { person: Person; disabled: boolean }) {
  const { email, role } = person;
  const [next, setNext] = useState<Role | null>(null);
  return (
    <>
      <select
        aria-label={`Role of ${email}`}
        value={next ?? role}
        disabled={disabled}
        onChange={(event) => setNext(event.target.value as Role)}
        className="relative h-(--control-sm) rounded-md border border-line-control bg-surface px-2 text-xs text-ink hover:border-muted disabled:cursor-not-allowed disabled:border-line disabled:bg-subtle disabled:text-muted"
      >
        {Object.entries(roleNames).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {next && <ChangeRole person={person} next={next} onClose={() => setNext(null)} />}
    </>
  );
}

interface ChangeRoleProps {
  person: Person;
  next: Role;
  onClose: () => void;
}

function ChangeRole({ person: { id, email, role }, next, onClose }: ChangeRoleProps) {
  const isSelf = useSessionUser()?.id === id;
  return (
    <ActionDialog
      title={`Make ${email} ${withArticle[next]}?`}
      act="Change role"
      acting="Changing role"
      kind={role === "owner" ? "danger" : "primary"}
      refused="The role was not changed"
      run={() => setRole(id, next)}
      stale={[peopleQuery, sessionQuery]}
      onClose={onClose}
      onDone={({ role: now }) => toast("Role changed", `${email} is ${withArticle[now]} now.`)}
    >
      <p>
        {rights[next]}
        {role === "owner" && " Open invitations by this owner end."}
      </p>
      {isSelf && <p className="mt-2">This is your account: only another owner can give you the role back.</p>}
    </ActionDialog>
  );
}
