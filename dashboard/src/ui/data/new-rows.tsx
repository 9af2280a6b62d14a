import { Button } from "../forms/button.tsx";

/** Button that shows rows held back above a scrolled list; hidden without any. Its container is `relative`. */
export function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <Button
      kind="primary"
      size="sm"
      className="enter absolute top-10 left-1/2 z-(--z-rail) -translate-x-1/2 rounded-full! shadow-2"
      onClick={onShow}
    >
      {count} new
    </Button>
  );
}
