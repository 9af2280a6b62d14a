import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sessionQuery } from "../../features/account/session.ts";
import { AlreadySetUp, SetupPage } from "../../features/account/setup-page.tsx";
import { queryClient } from "../query-client.ts";

/** `/dashboard/setup#<code>`. The code stands after the #, so that it reaches no server log. */
export function SetupRoute() {
  const navigate = useNavigate();
  const [token] = useState(useLocation().hash);
  const session = useQuery(sessionQuery);
  if (session.isPending) return null;
  const isSetUp = session.data && (session.data.signedIn || !session.data.setupRequired);
  if (isSetUp) return <AlreadySetUp />;
  const enter = () => {
    queryClient.clear();
    void navigate({ to: "/start", replace: true });
  };
  return <SetupPage token={token} onSignedIn={enter} />;
}
