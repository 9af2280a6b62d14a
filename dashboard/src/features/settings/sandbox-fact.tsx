import { LoaderCircle, type LucideIcon, ShieldAlert, ShieldCheck, ShieldOff } from "lucide-react";
import type { SandboxLevel } from "../../../../server/domain/api-types/enums.ts";
import { Pill, type Tone } from "../../ui/data/pill.tsx";

interface Shown {
  tone: Tone;
  icon: LucideIcon;
  word: string;
  says: string;
}

const levels: Record<SandboxLevel, Shown> = {
  strict: {
    tone: "ok",
    icon: ShieldCheck,
    word: "Strict",
    says: "The operating system enforces the sandbox. JavaScript and Python run.",
  },
  process: {
    tone: "warn",
    icon: ShieldAlert,
    word: "Process only",
    says: "This operating system cannot enforce the sandbox: code only gets its own process. JavaScript runs, Python is refused.",
  },
  off: { tone: "plain", icon: ShieldOff, word: "Off", says: "No code runs on this server." },
};

/** Isolation level of code tools; null while the server detects it. */
export function SandboxFact({ level }: { level: SandboxLevel | null }) {
  if (level === null)
    return (
      <Pill tone="plain" icon={LoaderCircle} spin>
        Testing
      </Pill>
    );
  const { tone, icon, word, says } = levels[level];
  return (
    <div className="flex flex-col items-start gap-1.5">
      <Pill tone={tone} icon={icon}>
        {word}
      </Pill>
      <p className="max-w-[68ch] text-muted">{says}</p>
    </div>
  );
}
