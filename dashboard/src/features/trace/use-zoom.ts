import { type RefObject, useEffect, useRef, useState } from "react";
import { useKeys } from "../../hooks/use-keys.ts";
import { isZoomed, panned, type View, wholeView, zoomed } from "./zoom.ts";

const step = 1.6;
const panStep = 0.2;
/** A wheel notch is about 100 px. */
const wheelStep = 1.002;

export interface Zoom {
  view: View;
  isZoomed: boolean;
  nearer: () => void;
  farther: () => void;
  whole: () => void;
  /** Moves the view by this many of its widths. */
  pan: (by: number) => void;
  change: (to: (view: View) => View) => void;
}

/** Zoom state of the waterfall, with buttons and keys. */
export function useZoom(): Zoom {
  const [view, change] = useState(wholeView);
  const nearer = () => change((view) => zoomed(view, step));
  const farther = () => change((view) => zoomed(view, 1 / step));
  const whole = () => change(wholeView);
  const pan = (by: number) => change((view) => panned(view, by));
  useKeys({ "+": nearer, "-": farther, "0": whole, h: () => pan(-panStep), l: () => pan(panStep) });
  return { view, isZoomed: isZoomed(view), nearer, farther, whole, pan, change };
}

/** Zooms with Ctrl and the wheel, and pans sideways with the wheel. `lane` is the area of the time axis. */
export function useWheel(scroller: RefObject<HTMLElement | null>, lane: RefObject<HTMLElement | null>, zoom: Zoom) {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const body = scroller.current;
    if (!body) return;
    const onWheel = (event: WheelEvent) => {
      const box = lane.current?.getBoundingClientRect();
      if (!box || box.width === 0) return; // A phone has no axis.
      const { change, pan, isZoomed } = latest.current;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const around = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
        change((view) => zoomed(view, wheelStep ** -event.deltaY, around));
      } else if (isZoomed && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan(event.deltaX / box.width);
      }
    };
    // React's listener is passive and could not prevent the page zoom.
    body.addEventListener("wheel", onWheel, { passive: false });
    return () => body.removeEventListener("wheel", onWheel);
  }, [scroller, lane]);
}
