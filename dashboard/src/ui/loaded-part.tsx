import { Component, type ReactNode, Suspense } from "react";
import { failed } from "./toast.ts";

interface LoadedPartProps {
  /** Stands until it is here, and in its place where it does not come. */
  fallback?: ReactNode;
  /** When it does not come. */
  onMissing?: () => void;
  children: ReactNode;
}

/**
 * A part that is loaded apart from its page. Where that fails, since the server is away or has been upgraded meanwhile,
 * only this part is missing: the page stays, with all that somebody has written there.
 */
export class LoadedPart extends Component<LoadedPartProps, { isMissing: boolean }> {
  override state = { isMissing: false };

  static getDerivedStateFromError() {
    return { isMissing: true };
  }

  override componentDidCatch() {
    failed("A part of the page could not be loaded", "Reload the page to load it.");
    this.props.onMissing?.();
  }

  override render() {
    const { fallback = null, children } = this.props;
    return this.state.isMissing ? fallback : <Suspense fallback={fallback}>{children}</Suspense>;
  }
}
