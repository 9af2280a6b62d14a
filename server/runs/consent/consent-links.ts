import type { AuthorizationLink } from "../../domain/required-action.ts";
import { mayRun } from "../../http/auth.ts";
import type { Base } from "../../http/module.ts";
import type { Principal } from "../../http/principal.ts";

export type ConsentLinks = ReturnType<typeof createConsentLinks>;

/**
 * Creates the addresses at which users consent. Nothing is stored for them: each proves that this server made it, and
 * opening one begins a new single-use request at the authorization server. `naming`: they contain the project.
 */
export function createConsentLinks({ base: { seal, publicUrl }, naming }: { base: Base; naming: boolean }) {
  const proof = (runId: string, oauthClientId: string): string => seal.mac(`oauth_consent/${runId}/${oauthClientId}`);

  function urlOf(projectId: string, runId: string, oauthClientId: string): string {
    const place = naming ? `.${projectId}` : "";
    return `${publicUrl()}/oauth/consent/${runId}.${oauthClientId}.${proof(runId, oauthClientId)}${place}`;
  }

  return {
    /** Returns the secret part of an address. */
    proof,
    /**
     * Returns the links for a reader; undefined if it may not answer its runs. A client token gets those of its own user
     * only: with another one, a browser could give its account to somebody else or to the whole project.
     */
    of(principal: Principal): AuthorizationLink | undefined {
      if (!mayRun(principal)) return undefined;
      const { token, project_id } = principal;
      return (runId, { oauth_client_id, user_id }) =>
        token && (user_id === null || user_id !== token.user_id) ? null : urlOf(project_id, runId, oauth_client_id);
    },
    /** Returns the links for the receivers of a project's webhooks. */
    ofProject:
      (projectId: string): AuthorizationLink =>
      (runId, { oauth_client_id }) =>
        urlOf(projectId, runId, oauth_client_id),
  };
}
