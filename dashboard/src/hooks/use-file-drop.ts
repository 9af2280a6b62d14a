import { type DragEvent, useRef, useState } from "react";

/** Handles files dragged over an element and dropped on it. */
export function useFileDrop(active: boolean, onFiles: (files: readonly File[]) => void) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const hasFiles = ({ dataTransfer }: DragEvent) => active && dataTransfer.types.includes("Files");
  const move = (event: DragEvent, by: 1 | -1) => {
    if (!hasFiles(event)) return;
    depth.current += by;
    setOver(depth.current > 0);
  };
  return {
    over,
    onDragEnter: (event: DragEvent) => move(event, 1),
    onDragLeave: (event: DragEvent) => move(event, -1),
    onDragOver: (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth.current = 0;
      setOver(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}
