/** A token to send, or why there is none. */
export type AccessToken =
  | { status: "ready"; token: string; expiresAt: number | null }
  | { status: "authorization_required"; oauthClientId: string; oauthClientName: string; userId: string | null }
  | { status: "failed"; code: string; message: string; retryable: boolean };
