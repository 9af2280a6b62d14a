import { useNavigate, useSearch } from "@tanstack/react-router";
import { ThreadsPage } from "../../features/threads/threads-page.tsx";

/** `/dashboard/threads?user=&session=&status=&after=&before=`. */
export function ThreadsRoute() {
  const search = useSearch({ from: "/shell/threads" });
  const navigate = useNavigate();
  return (
    <ThreadsPage
      search={search}
      onSearch={(next) => void navigate({ to: "/threads", search: next })}
      onOpen={(threadId) => void navigate({ to: "/threads/$threadId", params: { threadId } })}
    />
  );
}
