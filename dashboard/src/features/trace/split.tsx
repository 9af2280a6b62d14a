import { clsx } from "clsx";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import { readPreference, writePreference } from "../../lib/local-storage.ts";

const [narrowest, widest, defaultWidth, key_px] = [340, 720, 460, 20];

/** Two panes with a divider, movable by pointer or arrow keys. A phone shows one of them. */
export function SplitPane({ left, right, shown }: { left: ReactNode; right: ReactNode; shown: "left" | "right" }) {
  const [width, setWidth] = useState(() => within(Number(readPreference("detail-width")) || defaultWidth));
  const resize = (to: number) => {
    setWidth(within(to));
    writePreference("detail-width", String(within(to)));
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    const line = event.currentTarget;
    const from = event.clientX;
    line.setPointerCapture(event.pointerId);
    const move = (to: globalThis.PointerEvent) => resize(width + from - to.clientX);
    const end = () => {
      line.removeEventListener("pointermove", move);
      line.removeEventListener("pointerup", end);
      line.removeEventListener("pointercancel", end);
    };
    line.addEventListener("pointermove", move);
    line.addEventListener("pointerup", end);
    line.addEventListener("pointercancel", end);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: key_px, ArrowRight: -key_px, Home: -widest, End: widest }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    resize(width + by);
  };
  return (
    <div className="flex min-h-0 flex-1">
      <div className={clsx("min-w-0 flex-1 flex-col rail:flex", shown === "left" ? "flex" : "hidden")}>{left}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: a movable divider is not an <hr>. */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the detail"
        aria-valuenow={width}
        aria-valuemin={narrowest}
        aria-valuemax={widest}
        tabIndex={0}
        onPointerDown={onPointerDown}
        onKeyDown={onKeyDown}
        onDoubleClick={() => resize(defaultWidth)}
        className="relative z-(--z-sticky) hidden w-px shrink-0 cursor-col-resize touch-none bg-line before:absolute before:inset-y-0 before:-inset-x-1 hover:bg-accent focus-visible:bg-accent rail:block"
      />
      <div
        className={clsx(
          "min-w-0 max-w-[60%] flex-col max-rail:max-w-none max-rail:flex-1 rail:flex rail:w-(--detail-width) rail:shrink-0 rail:max-wide:max-w-85",
          shown === "right" ? "flex" : "hidden",
        )}
        style={{ "--detail-width": `${width}px` } as React.CSSProperties}
      >
        {right}
      </div>
    </div>
  );
}

const within = (width: number): number => Math.round(Math.min(widest, Math.max(narrowest, width)));
