import type { ReactNode } from "react";
import { PaletteRow, paletteField, type TypedInput } from "../features/command-menu/palette-row.tsx";
import { Kbd } from "../ui/data/kbd.tsx";

/** Collects typed text until the command menu has loaded, which takes it over. */
export function PendingPalette({
  typed,
  onType,
  onClose,
}: {
  typed: TypedInput;
  onType: (typed: TypedInput) => void;
  onClose: () => void;
}) {
  return (
    <PendingDialog label="Search or jump to" onClose={onClose}>
      <PaletteRow>
        <input
          {...paletteField}
          value={typed.text}
          onChange={({ target }) => onType({ text: target.value, isEntered: false })}
          onKeyDown={({ key, nativeEvent }) => {
            if (key === "Enter" && !nativeEvent.isComposing) onType({ ...typed, isEntered: true });
          }}
        />
        <CloseButton onClose={onClose} />
      </PaletteRow>
      <p className="px-4 py-6 text-center text-muted">Loading…</p>
    </PendingDialog>
  );
}

export function PendingKeyMap({ onClose }: { onClose: () => void }) {
  return (
    <PendingDialog label="Keyboard shortcuts" onClose={onClose}>
      <div className="flex items-center justify-between gap-3 p-4">
        <p className="text-muted">Loading…</p>
        <CloseButton onClose={onClose} />
      </div>
    </PendingDialog>
  );
}

/** Stands in for a dialog whose code is loading. A native dialog, so that no key reaches the page below. */
function PendingDialog({ label, onClose, children }: { label: string; onClose: () => void; children: ReactNode }) {
  return (
    <dialog
      ref={openModal}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className="mx-auto mt-2 w-full max-w-[min(45rem,100%-1rem)] overflow-hidden rounded-xl bg-surface text-ink shadow-3 backdrop:bg-scrim rail:mt-16"
    >
      {children}
    </dialog>
  );
}

/** Closes the dialog on unmount too: that restores the focus, so the next dialog finds it in place. */
function openModal(dialog: HTMLDialogElement | null) {
  dialog?.showModal();
  return () => dialog?.close();
}

function CloseButton({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" aria-label="Esc: close" className="rounded-sm" onClick={onClose}>
      <Kbd>Esc</Kbd>
    </button>
  );
}
