/** A link to the sign-in page. */
export const SignInLink = () => (
  <p>
    <a href="/dashboard/login" className="text-accent underline underline-offset-2">
      Sign in
    </a>
  </p>
);
