import { useNavigate, useSearch } from "@tanstack/react-router";
import { KeysPage } from "../../features/keys/keys-page.tsx";

/** `/dashboard/keys?q=&status=&scope=`. */
export function KeysRoute() {
  const search = useSearch({ from: "/shell/keys" });
  const navigate = useNavigate();
  return <KeysPage search={search} onSearch={(next) => void navigate({ to: "/keys", search: next, replace: true })} />;
}
