import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { type Faults, serverFaults } from "./fault-of.ts";
import { useChanged } from "./use-changed.ts";

// No library: @tanstack/react-form 1.33.5 weighs 17 kB compressed, and each field takes more lines with it than with this.

type Typed = ChangeEvent<HTMLInputElement | HTMLTextAreaElement>;

/** A draft, what is wrong with it, and what ties a control to one of its fields. */
export interface Fields<Draft> {
  draft: Draft;
  faults: Faults<Draft>;
  set: (change: Partial<Draft>) => void;
  /** For a field or a text area. */
  text: <K extends keyof Draft>(
    field: K,
  ) => { value: Draft[K]; error?: string | null; onChange: (event: Typed) => void };
  json: <K extends keyof Draft>(field: K) => { value: Draft[K]; fault?: string | null; onText: (text: string) => void };
  /** For an editor of code or Markdown. */
  code: <K extends keyof Draft>(field: K) => { value: Draft[K]; error?: string | null; onText: (text: string) => void };
  suggest: <K extends keyof Draft>(
    field: K,
  ) => { value: Draft[K]; error?: string | null; onValue: (text: string) => void };
  pick: <K extends keyof Draft>(field: K) => { value: Draft[K]; onChoose: (value: Draft[K]) => void };
  /** For a bar or cards of choices. */
  choose: <K extends keyof Draft>(field: K) => { chosen: Draft[K]; onChoose: (value: Draft[K]) => void };
}

export function fieldsOf<Draft extends object>(
  draft: Draft,
  faults: Faults<Draft>,
  set: (change: Partial<Draft>) => void,
): Fields<Draft> {
  const put = (field: keyof Draft) => (value: unknown) => set({ [field]: value } as Partial<Draft>);
  return {
    draft,
    faults,
    set,
    text: (field) => ({
      value: draft[field],
      error: faults[field],
      onChange: ({ target }) => put(field)(target.value),
    }),
    json: (field) => ({ value: draft[field], fault: faults[field], onText: put(field) }),
    code: (field) => ({ value: draft[field], error: faults[field], onText: put(field) }),
    suggest: (field) => ({ value: draft[field], error: faults[field], onValue: put(field) }),
    pick: (field) => ({ value: draft[field], onChoose: put(field) }),
    choose: (field) => ({ chosen: draft[field], onChoose: put(field) }),
  };
}

/** What the frame of a form needs to know of it. */
export interface Sendable {
  isPending: boolean;
  /** Something was written, and is not being saved. */
  isUnsaved: boolean;
  /** What went wrong that no field says. */
  error: Error | null;
  /** The same, whether or not a field says it. */
  failure: Error | null;
  /** False where a field is wrong. */
  submit: () => boolean;
}

interface Form<Draft, Made> extends Fields<Draft>, Sendable {
  made: Made | undefined;
  isChanged: boolean;
  /** Nothing was sent since it was written last. */
  isIdle: boolean;
  /** Takes back what is said of it. */
  forget: () => void;
  /** Begins anew. */
  restart: () => void;
}

/** A form from its first letter until it is sent. What is wrong with a field is said once it was tried to send it. */
export function useForm<Draft extends object, Made>({
  first,
  check = () => ({}),
  blame = serverFaults,
  send,
  onSent,
}: {
  first: Draft | (() => Draft);
  /** What cannot be sent as it is. */
  check?: (draft: Draft) => Faults<Draft>;
  /** Which fields a refusal speaks of. */
  blame?: (error: Error, draft: Draft) => { faults: Faults<Draft>; rest: string[] };
  send: (draft: Draft) => Promise<Made>;
  onSent?: (made: Made, draft: Draft) => unknown;
}): Form<Draft, Made> {
  const [draft, setDraft] = useState(first);
  const [tried, setTried] = useState(false);
  const isChanged = useChanged(draft);
  const sending = useMutation({ mutationFn: send, onSuccess: onSent });
  const refused = sending.error ? blame(sending.error, draft) : { faults: {}, rest: [] };
  const isPlaced = refused.rest.length === 0 && Object.keys(refused.faults).length > 0;
  const found = check(draft);
  const isWrong = Object.values(found).some(Boolean);
  const { isPending } = sending;
  const untell = () => !isPending && sending.reset();
  const forget = () => {
    setTried(false);
    untell();
  };
  const set = (change: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...change }));
    untell();
  };
  return {
    ...fieldsOf<Draft>(draft, tried ? { ...refused.faults, ...present(found) } : refused.faults, set),
    isPending,
    isChanged,
    isIdle: sending.isIdle,
    isUnsaved: isChanged && !isPending && !sending.isSuccess,
    made: sending.data,
    error: isPlaced ? null : sending.error,
    failure: sending.error,
    submit: () => {
      setTried(true);
      if (isWrong) return false;
      if (!isPending) sending.mutate(draft);
      return true;
    },
    restart: () => {
      setDraft(first);
      forget();
    },
    forget,
  };
}

const present = <Draft>(faults: Faults<Draft>): Faults<Draft> =>
  Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault)) as Faults<Draft>;
