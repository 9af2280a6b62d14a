import { Link } from "@tanstack/react-router";
import { buttonClass } from "./button.tsx";

/** The way back in that leaves this page as it is: the browser's other tabs are signed in with it. */
export const SignInElsewhere = () => (
  <Link to="/login" target="_blank" className={buttonClass({ size: "sm" })}>
    Sign in in another tab
  </Link>
);
