import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, type LucideIcon, ShieldAlert, ShieldCheck, ShieldOff } from "lucide-react";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Pill, type Tone } from "../../ui/pill.tsx";
import { type SandboxLevel, serverQuery } from "./settings-api.ts";

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
    says: "The system enforces the jail around code tools. JavaScript and Python run.",
  },
  process: {
    tone: "warn",
    icon: ShieldAlert,
    word: "Process only",
    says: "This system cannot enforce the jail: code has a process of its own and nothing more. JavaScript runs, Python is refused.",
  },
  off: { tone: "plain", icon: ShieldOff, word: "Off", says: "No code runs on this server." },
};

/** What holds for all projects of this server. */
export function ServerFacts() {
  const server = useQuery(serverQuery);
  if (server.error)
    return <ErrorNote title="The server does not say" error={server.error} onRetry={() => void server.refetch()} />;
  const level = server.data?.sandbox_level ?? null;
  if (level === null)
    return (
      <Pill tone="plain" icon={LoaderCircle} spin>
        Being tested
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
