import { AccountPage } from "../../features/account/account-page.tsx";

/** `/dashboard/account`. */
export function AccountRoute() {
  return <AccountPage />;
}
