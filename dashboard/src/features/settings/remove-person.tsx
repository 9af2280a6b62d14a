import { useQueryClient } from "@tanstack/react-query";
import type { Person } from "../../../../server/wire/console.ts";
import { peopleQuery, removePerson } from "../../entities/server/server-api.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { RemoveButton } from "./remove-button.tsx";

interface RemovePersonProps {
  person: Person;
  isSelf: boolean;
  disabled: boolean;
}

/** Ends somebody's account, after saying what stays. */
export function RemovePerson({ person: { id, email }, isSelf, disabled }: RemovePersonProps) {
  const client = useQueryClient();
  return (
    <RemoveButton
      noun="person"
      name={email}
      keep="Keep the account"
      disabled={disabled}
      remove={() => removePerson(id)}
      onRemoved={() => Promise.all([client.invalidateQueries(peopleQuery), client.invalidateQueries(sessionQuery)])}
    >
      {isSelf
        ? "This is your account: you are signed out at once and cannot sign in again."
        : "The sessions end at once."}{" "}
      API keys that were made go on working, and what was done stays in the audit log.
    </RemoveButton>
  );
}
