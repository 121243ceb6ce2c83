import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Asked, Tagged } from "../api/client.ts";
import { common, dialogs as t } from "../text/en.ts";
import { FormDialog } from "./confirm.tsx";
import { differing } from "./edits.state.ts";
import { Failure } from "./states.tsx";

/** Reads what is edited or decided: when it is opened, and again only when a person asks for it. */
export function useSeen<B>(asked: Asked<Tagged<B>>, enabled = true) {
  return useQuery({
    ...asked,
    enabled,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** What a form was opened with. */
export interface Seen<B> extends Tagged<B> {
  /** Reads it again, after somebody has changed it meanwhile. */
  readonly again: () => Promise<unknown>;
}

interface ReadingProps<B> {
  readonly asked: Asked<Tagged<B>>;
  readonly title: string;
  readonly close: () => void;
  readonly children: (seen: Seen<B>) => ReactNode;
}

/** Reads what a form changes, with its revision, before the form is shown. */
export function Reading<B>({ asked, title, close, children }: ReadingProps<B>) {
  const { data, error, refetch } = useSeen(asked);
  const again = () => refetch({ throwOnError: true });
  if (data !== undefined) return children({ ...data, again });
  if (error === null) return null;
  return (
    <FormDialog open close={close} title={title} button={common.save} why={t.notRead} run={again}>
      <Failure error={error} retry={() => void refetch()} />
    </FormDialog>
  );
}

/** The members of a form: what was read, and over it what was typed, which stays when it is read again. */
export function useEdits<T extends object>(read: T) {
  const [edits, setEdits] = useState<Partial<T>>({});
  const changed = differing(read, edits);
  return {
    value: { ...read, ...edits } as T,
    edit: (part: Partial<T>) => setEdits((old) => ({ ...old, ...part })),
    changed,
    /** Why there is nothing to send. */
    nothing: Object.keys(changed).length === 0 ? common.nothingChanged : undefined,
  };
}
