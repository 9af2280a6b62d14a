import { Component, type ReactNode, Suspense } from "react";
import { toastFailure } from "./toast.ts";

interface LazyBoundaryProps {
  /** Shown while loading, and if loading fails. */
  fallback?: ReactNode;
  /** Called if loading fails. */
  onMissing?: () => void;
  children: ReactNode;
}

/**
 * Boundary of a lazy part. If loading fails (server down or upgraded), only this part is missing, so that unsaved input
 * on the page survives.
 */
export class LazyBoundary extends Component<LazyBoundaryProps, { isMissing: boolean }> {
  override state = { isMissing: false };

  static getDerivedStateFromError() {
    return { isMissing: true };
  }

  override componentDidCatch() {
    toastFailure("A part of the page could not be loaded", "Reload the page to load it.");
    this.props.onMissing?.();
  }

  override render() {
    const { fallback = null, children } = this.props;
    return this.state.isMissing ? fallback : <Suspense fallback={fallback}>{children}</Suspense>;
  }
}
