import type { Person } from "../../../../server/domain/api-types/console.ts";
import { peopleQuery, removePerson } from "../../entities/server/server-api.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { RemoveButton } from "./remove-button.tsx";

interface RemovePersonProps {
  person: Person;
  isSelf: boolean;
  disabled: boolean;
}

/** Removes a person's account after explaining what stays. */
export function RemovePerson({ person: { id, email }, isSelf, disabled }: RemovePersonProps) {
  return (
    <RemoveButton
      noun="person"
      name={email}
      disabled={disabled}
      remove={() => removePerson(id)}
      stale={[peopleQuery, sessionQuery]}
    >
      {isSelf
        ? "This is your account. You are signed out at once and cannot sign in again."
        : "The person is signed out at once."}{" "}
      API keys that the person created keep working. The audit log is kept.
    </RemoveButton>
  );
}
