/** The way to the login, from pages that stand before it. */
export const SignInLink = () => (
  <p>
    <a href="/dashboard/login" className="text-accent underline underline-offset-2">
      Sign in
    </a>
  </p>
);
