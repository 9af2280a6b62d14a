import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { type FieldErrors, serverFieldErrors } from "../lib/field-errors.ts";

// No library: @tanstack/react-form 1.33.5 has 17 kB compressed and needs more lines per field.

type Typed = ChangeEvent<HTMLInputElement | HTMLTextAreaElement>;

/** A draft with its errors, and the props that bind a control to a field. */
export interface Fields<Draft> {
  draft: Draft;
  fieldErrors: FieldErrors<Draft>;
  set: (change: Partial<Draft>) => void;
  /** Props of a text field or text area. */
  text: <K extends keyof Draft>(
    field: K,
  ) => { value: Draft[K]; error?: string | null; onChange: (event: Typed) => void };
  json: <K extends keyof Draft>(field: K) => { value: Draft[K]; fault?: string | null; onText: (text: string) => void };
  /** Props of a code or Markdown editor. */
  code: <K extends keyof Draft>(field: K) => { value: Draft[K]; error?: string | null; onText: (text: string) => void };
  suggest: <K extends keyof Draft>(
    field: K,
  ) => { value: Draft[K]; error?: string | null; onValue: (text: string) => void };
  pick: <K extends keyof Draft>(field: K) => { value: Draft[K]; onChoose: (value: Draft[K]) => void };
  /** Props of a segmented control or radio cards. */
  choose: <K extends keyof Draft>(field: K) => { chosen: Draft[K]; onChoose: (value: Draft[K]) => void };
}

export function fieldsOf<Draft extends object>(
  draft: Draft,
  faults: FieldErrors<Draft>,
  set: (change: Partial<Draft>) => void,
): Fields<Draft> {
  const put = (field: keyof Draft) => (value: unknown) => set({ [field]: value } as Partial<Draft>);
  return {
    draft,
    fieldErrors: faults,
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

/** Form state for the dialog or panel around a form. */
export interface FormState {
  isPending: boolean;
  /** True if there are changes that are not being saved. */
  isUnsaved: boolean;
  /** Error that no field shows. */
  error: Error | null;
  /** Last error, even if a field shows it. */
  failure: Error | null;
  /** Sends the form; returns false if a field is invalid. */
  submit: () => boolean;
}

interface Form<Draft, Made> extends Fields<Draft>, FormState {
  result: Made | undefined;
  isChanged: boolean;
  /** True if nothing was sent since the last change. */
  isUnchangedSinceSend: boolean;
  /** Clears the error. */
  clearError: () => void;
  /** Resets the form. */
  restart: () => void;
}

/** Form state until it is sent. Field errors appear after the first attempt to send. */
export function useForm<Draft extends object, Made>({
  first,
  check = () => ({}),
  blame = serverFieldErrors,
  send,
  onSent,
}: {
  first: Draft | (() => Draft);
  /** Validates the draft. */
  check?: (draft: Draft) => FieldErrors<Draft>;
  /** Assigns a server error to fields. */
  blame?: (error: Error, draft: Draft) => { faults: FieldErrors<Draft>; rest: string[] };
  send: (draft: Draft) => Promise<Made>;
  onSent?: (made: Made, draft: Draft) => unknown;
}): Form<Draft, Made> {
  const [draft, setDraft] = useState(first);
  const [hasTried, setHasTried] = useState(false);
  const isChanged = useHasChanged(draft);
  const sending = useMutation({ mutationFn: send, onSuccess: onSent });
  const serverErrors = sending.error ? blame(sending.error, draft) : { faults: {}, rest: [] };
  const isPlaced = serverErrors.rest.length === 0 && Object.keys(serverErrors.faults).length > 0;
  const found = check(draft);
  const isWrong = Object.values(found).some(Boolean);
  const { isPending } = sending;
  const clearError = () => !isPending && sending.reset();
  const forget = () => {
    setHasTried(false);
    clearError();
  };
  const set = (change: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...change }));
    clearError();
  };
  return {
    ...fieldsOf<Draft>(draft, hasTried ? { ...serverErrors.faults, ...present(found) } : serverErrors.faults, set),
    isPending,
    isChanged,
    isUnchangedSinceSend: sending.isIdle,
    isUnsaved: isChanged && !isPending && !sending.isSuccess,
    result: sending.data,
    error: isPlaced ? null : sending.error,
    failure: sending.error,
    submit: () => {
      setHasTried(true);
      if (isWrong) return false;
      if (!isPending) sending.mutate(draft);
      return true;
    },
    restart: () => {
      setDraft(first);
      forget();
    },
    clearError: forget,
  };
}

const present = <Draft>(faults: FieldErrors<Draft>): FieldErrors<Draft> =>
  Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault)) as FieldErrors<Draft>;

/** True if the value differs from its first one. */
function useHasChanged(value: unknown): boolean {
  const text = JSON.stringify(value);
  const [first] = useState(text);
  return text !== first;
}
