/** Progress with a label. `share` null is indeterminate. */
export function Progress({ label, share }: { label: string; share: number | null }) {
  return (
    <progress
      aria-label={label}
      max={1}
      {...(share !== null && { value: share })}
      className="block h-1 w-full appearance-none overflow-hidden rounded-full bg-active [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-active [&::-webkit-progress-value]:bg-accent"
    />
  );
}
