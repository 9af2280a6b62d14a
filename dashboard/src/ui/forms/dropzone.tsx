import { FileUp } from "lucide-react";
import { type DragEvent, useId, useRef, useState } from "react";
import { Button } from "./button.tsx";

interface DropzoneProps {
  /** Accessible name. */
  label: string;
  /** Text above the button: instruction, or the chosen file. */
  text: string;
  act: string;
  error?: string | null;
  multiple?: boolean;
  onFiles: (files: readonly File[]) => void;
}

/** Area to drop files on, with a button to choose some. */
export function Dropzone({ label, text, act, error, multiple, onFiles }: DropzoneProps) {
  const picker = useRef<HTMLInputElement>(null);
  const errorId = useId();
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => {
    setOver(false);
    if (files?.length) onFiles([...files]);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    take(event.dataTransfer.files);
  };
  return (
    <div className="flex flex-col gap-2">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard. */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
        data-over={over}
        className="flex flex-col items-center gap-2 rounded-md border border-dashed border-line-control bg-subtle px-4 py-5 text-center data-[over=true]:border-accent data-[over=true]:bg-accent-soft"
      >
        <FileUp aria-hidden className="size-6 text-muted" strokeWidth={1.2} />
        <span className="max-w-full text-muted wrap-anywhere">{text}</span>
        <Button onClick={() => picker.current?.click()} autoFocus aria-describedby={error ? errorId : undefined}>
          {act}
        </Button>
        <input
          ref={picker}
          type="file"
          multiple={multiple}
          aria-label={label}
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
      </div>
      {error && (
        <p id={errorId} role="alert" className="text-xs text-bad wrap-anywhere">
          {error}
        </p>
      )}
    </div>
  );
}
