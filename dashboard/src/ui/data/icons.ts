import {
  ArrowRightLeft,
  Bot,
  Brain,
  CirclePlay,
  Hand,
  type LucideIcon,
  Minimize2,
  RotateCcw,
  Search,
  Shield,
  Sparkle,
  Wrench,
} from "lucide-react";

/** Icon of each step type and of the run itself. */
export const stepIcons: Record<string, LucideIcon> = {
  run: CirclePlay,
  model_call: Sparkle,
  tool_call: Wrench,
  retrieval: Search,
  guardrail: Shield,
  approval: Hand,
  subagent: Bot,
  handoff: ArrowRightLeft,
  recovery: RotateCcw,
  compaction: Minimize2,
  reasoning: Brain,
};
