import { useNavigate, useParams } from "@tanstack/react-router";
import { ThreadPage } from "../../features/threads/thread-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/threads/:id`. */
export function ThreadRoute() {
  const { threadId } = useParams({ from: "/shell/threads/$threadId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <ThreadPage
      key={threadId}
      id={threadId}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/threads" })}
    />
  );
}
