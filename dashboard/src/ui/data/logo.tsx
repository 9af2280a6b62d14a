/** Logo: two waves and the name. */
export function Logo({ wordless = false }: { wordless?: boolean }) {
  return (
    <span className="flex items-center gap-2 text-lg font-strong tracking-tight">
      <svg
        viewBox="0 0 22 22"
        aria-hidden="true"
        className="size-5 shrink-0 fill-none stroke-accent stroke-2 [stroke-linecap:round]"
      >
        <path d="M2 7c3-3 6-3 9 0s6 3 9 0M2 15c3-3 6-3 9 0s6 3 9 0" />
      </svg>
      {wordless ? <span className="sr-only">runnel</span> : "runnel"}
    </span>
  );
}
