import { Check, Clock, X } from "lucide-react";
import type { OAuthGrant } from "../../../../server/domain/api-types/oauth.ts";
import { type Look, LookPill } from "../../ui/data/pill.tsx";

const looks: Record<OAuthGrant["status"], Look> = {
  active: ["ok", Check, "Active"],
  expired: ["warn", Clock, "Expired"],
  failed: ["bad", X, "Failed"],
};

/** Status of a grant. */
export const GrantPill = ({ grant: { status } }: { grant: OAuthGrant }) => <LookPill look={looks[status]} />;
