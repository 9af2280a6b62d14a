import { Link } from "@tanstack/react-router";
import { buttonClass } from "../forms/button.tsx";

/** Link to sign in in another tab, which also restores the session of this one. */
export const SignInElsewhere = () => (
  <Link to="/login" target="_blank" className={buttonClass({ size: "sm" })}>
    Sign in in another tab
  </Link>
);
