import { useNavigate, useSearch } from "@tanstack/react-router";
import { LoginPage } from "../../features/account/login-page.tsx";
import { safeReturn } from "../../features/account/safe-return.ts";
import { queryClient } from "../query-client.ts";

/** `/dashboard/login`. */
export function LoginRoute() {
  const navigate = useNavigate();
  const { to } = useSearch({ from: "/login" });
  const enter = () => {
    queryClient.clear(); // Nothing that another person read may be shown to this one.
    void navigate({ href: `/dashboard${safeReturn(to)}`, replace: true });
  };
  return <LoginPage onSignedIn={enter} />;
}
