import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import type { Invitation, Person } from "../../../../server/domain/api-types/console.ts";
import { invitationsQuery, peopleQuery, removePerson, withdraw } from "../../entities/server/server-api.ts";
import { sessionQuery } from "../../entities/session/session.ts";
import { usePermission, useSessionUser } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, SecondLine, Table } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { NoResults } from "../../ui/feedback/no-results.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { InvitePerson } from "./invite-person.tsx";
import { RemoveButton } from "./remove-button.tsx";
import { RoleSelect } from "./role-select.tsx";
import { type TabProps, TabTable } from "./tab-table.tsx";

const columns = [
  { label: "Person" },
  { label: "Role" },
  { label: "Last seen", folds: true },
  { label: "Actions", silent: true },
];

/** People with access to the dashboard, and open invitations. */
export function PeopleTab({ search: { q = "" }, onSearch }: TabProps) {
  const may = usePermission("owner");
  const self = useSessionUser();
  const people = useQuery(peopleQuery);
  const invitations = useQuery({ ...invitationsQuery, enabled: may });
  const [inviting, setInviting] = useState(false);
  const found = people.data?.filter(({ email }) => matchesQuery(email, q));
  const invited = invitations.data?.filter(({ email }) => matchesQuery(email, q)) ?? [];
  const owners = people.data?.filter(({ role }) => role === "owner").length ?? 0;
  useKeys({ c: () => setInviting(true) }, may);
  return (
    <TabTable
      bar={
        <>
          <SearchField
            label="Search people by email"
            placeholder="Email"
            value={q}
            onSearch={(text) => onSearch({ tab: "people", q: text || undefined })}
          />
          <Button kind="primary" size="sm" disabled={!may} onClick={() => setInviting(true)}>
            <UserPlus aria-hidden className="size-3.5" strokeWidth={1.5} />
            Invite person
          </Button>
        </>
      }
      hint={
        may
          ? "Viewers can read. Members work in projects. Owners also manage people, connections and backups."
          : "Only owners can invite people and change roles."
      }
      pending={people.isPending}
      error={people.error ?? invitations.error}
      onRetry={() => {
        void people.refetch();
        if (may) void invitations.refetch();
      }}
      failed="The people cannot be shown"
    >
      {found?.length === 0 && invited.length === 0 && (
        <NoResults onClear={() => onSearch({ tab: "people" })}>No person has “{q}” in their email.</NoResults>
      )}
      {found && found.length + invited.length > 0 && (
        <Table label="People" columns={columns}>
          {found.map((person) => (
            <PersonRow
              key={person.id}
              person={person}
              isSelf={person.id === self?.id}
              may={may}
              isLast={person.role === "owner" && owners === 1}
            />
          ))}
          {invited.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </Table>
      )}
      {inviting && <InvitePerson onClose={() => setInviting(false)} />}
    </TabTable>
  );
}

interface PersonRowProps {
  person: Person;
  isSelf: boolean;
  may: boolean;
  /** True for the last remaining owner. */
  isLast: boolean;
}

function PersonRow({ person, isSelf, may, isLast }: PersonRowProps) {
  const { email, created_at, last_seen_at } = person;
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <span className="cut font-medium" title={email}>
            {email}
          </span>
          {isSelf && <Badge>you</Badge>}
        </span>
        {isLast && (
          <span className="block text-xs text-muted">The last owner cannot be removed or get another role.</span>
        )}
        <SecondLine>
          Since <Time at={created_at} />
          <span className="full:hidden">{last_seen_at ? <LastSeen at={last_seen_at} /> : " · not signed in"}</span>
        </SecondLine>
      </Cell>
      <Cell>
        <RoleSelect person={person} disabled={!may || isLast} />
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        {last_seen_at ? <Time at={last_seen_at} /> : <span className="text-muted">Not signed in</span>}
      </Cell>
      <Cell right>
        <RowActs>
          <RemovePerson person={person} isSelf={isSelf} disabled={!may || isLast} />
        </RowActs>
      </Cell>
    </Row>
  );
}

const LastSeen = ({ at }: { at: string }) => (
  <>
    {" "}
    · seen <Time at={at} />
  </>
);

function InvitationRow({ invitation }: { invitation: Invitation }) {
  const { email, role, expires_at } = invitation;
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <span className="cut" title={email}>
            {email}
          </span>
          <Badge>invited</Badge>
        </span>
        <SecondLine>
          The link ends <RelativeTime at={expires_at} />
        </SecondLine>
      </Cell>
      <Cell className="capitalize">{role}</Cell>
      <Cell folds className="whitespace-nowrap text-muted max-rail:hidden">
        Not joined yet
      </Cell>
      <Cell right>
        <RowActs>
          <WithdrawInvitation invitation={invitation} />
        </RowActs>
      </Cell>
    </Row>
  );
}

interface RemovePersonProps {
  person: Person;
  isSelf: boolean;
  disabled: boolean;
}

/** Removes a person's account after explaining what stays. */
function RemovePerson({ person: { id, email }, isSelf, disabled }: RemovePersonProps) {
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

/** Revokes an invitation's link. */
function WithdrawInvitation({ invitation: { id, email } }: { invitation: Invitation }) {
  const client = useQueryClient();
  const withdrawing = useMutation({
    mutationFn: () => withdraw(id),
    onSuccess: async () => {
      await client.invalidateQueries(invitationsQuery);
      toast("Invitation withdrawn", `The link for ${email} no longer works.`);
    },
    onError: (error) => toastFailure("The invitation was not withdrawn", error.message),
  });
  return (
    <Button
      kind="danger-quiet"
      size="sm"
      disabled={withdrawing.isPending}
      aria-label={`Withdraw the invitation of ${email}`}
      onClick={() => withdrawing.mutate()}
    >
      Withdraw
    </Button>
  );
}
