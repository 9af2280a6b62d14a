import { useLocation, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { InvitePage } from "../../features/account/invite-page.tsx";
import { queryClient } from "../query-client.ts";

/** `/dashboard/invite#<code>`. The code stands after the #, so that it reaches no server log. */
export function InviteRoute() {
  const navigate = useNavigate();
  const [token] = useState(useLocation().hash);
  const enter = () => {
    queryClient.clear(); // Whoever was signed in here before is not any more.
    void navigate({ to: "/overview", replace: true });
  };
  return <InvitePage token={token} onSignedIn={enter} />;
}
