import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Role } from "../../lib/use-may.ts";
import { failed, toast } from "../../ui/toast.ts";
import { type Person, peopleQuery, setRole } from "./server-api.ts";

export const roleNames: Record<Role, string> = { viewer: "Viewer", member: "Member", owner: "Owner" };

/** What somebody may do; choosing another role saves it. */
export function RoleSelect({ person: { id, email, role }, disabled }: { person: Person; disabled: boolean }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (next: Role) => setRole(id, next),
    onSuccess: async ({ role: now }) => {
      await Promise.all([client.invalidateQueries(peopleQuery), client.invalidateQueries({ queryKey: ["session"] })]);
      toast("Role changed", `${email} is ${now === "owner" ? "an owner" : `a ${now}`} now.`);
    },
    onError: (error) => failed("The role was not changed", error.message),
  });
  return (
    <select
      aria-label={`Role of ${email}`}
      value={change.isPending ? change.variables : role}
      disabled={disabled || change.isPending}
      onChange={(event) => change.mutate(event.target.value as Role)}
      className="relative h-(--control-sm) rounded-md border border-line-control bg-surface px-2 text-xs text-ink hover:border-muted disabled:cursor-not-allowed disabled:border-line disabled:bg-subtle disabled:text-muted"
    >
      {Object.entries(roleNames).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
