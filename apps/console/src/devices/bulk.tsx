import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { dialogs, devices as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { SetChoice } from "../ui/set-choice.tsx";
import { type BulkAction, type BulkDraft, bulkActions, bulkBody, isTyped, lacksOf, type Many, numberOf } from "./bulk.state.ts";

interface BulkProps {
  readonly many: Many;
  /** What is offered first. */
  readonly first: BulkAction;
  readonly close: () => void;
  /** The server does it in the background, under this number. */
  readonly begun: (operationId: number) => void;
}

const most = { query: { limit: 500, sort: "name:ASC" } } as const;

/** Changes many devices at once, those that a query means without listing them. */
export function BulkDialog({ many, first, close, begun }: BulkProps) {
  const [draft, setDraft] = useState<BulkDraft>({ action: first, tag: "", type: "", set: "", force: "forced" });
  const [typed, setTyped] = useState("");
  const number = numberOf(many);
  const edit = (part: Partial<BulkDraft>) => setDraft((old) => ({ ...old, ...part }));
  const run = async () => {
    const { id } = await change(r.targets.change, { body: bulkBody(draft, many) });
    begun(id);
    await invalidate("targets", "actions");
  };
  const lacking = lacksOf(draft, number, typed);
  return (
    <FormDialog
      open
      close={close}
      title={t.bulk.title(number)}
      text={t.bulk.does[draft.action]}
      button={t.bulk.button}
      why={lacking === undefined ? undefined : lacking === "number" ? dialogs.typeFirst(String(number)) : t.bulk.lacks[lacking]}
      run={run}
    >
      <Choice
        label={t.bulk.what}
        value={draft.action}
        onChange={(action) => edit({ action: action as BulkAction })}
        options={bulkActions.map((value) => ({ value, label: t.bulk.actions[value] ?? value }))}
      />
      <Subject draft={draft} edit={edit} />
      {isTyped(draft.action, number) && (
        <Field label={dialogs.typeToConfirm(String(number))} value={typed} onChange={setTyped} inputMode="numeric" />
      )}
    </FormDialog>
  );
}

interface SubjectProps {
  readonly draft: BulkDraft;
  readonly edit: (part: Partial<BulkDraft>) => void;
}

/** What they get or lose. */
function Subject({ draft, edit }: SubjectProps) {
  if (draft.action === "addTag" || draft.action === "removeTag") return <TagChoice value={draft.tag} onChange={(tag) => edit({ tag })} />;
  if (draft.action === "setType") return <TypeChoice value={draft.type} onChange={(type) => edit({ type })} none={t.bulk.lacks["type"]} />;
  if (draft.action !== "assignSet") return null;
  return (
    <>
      <SetChoice value={draft.set} onChange={(set) => edit({ set })} />
      <Choice
        label={t.force}
        value={draft.force}
        onChange={(force) => edit({ force })}
        options={Object.entries(t.forces).map(([value, label]) => ({ value, label }))}
      />
    </>
  );
}

interface ChoiceOf {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What it says while nothing is chosen. */
  readonly none?: string | undefined;
}

function TagChoice({ value, onChange }: ChoiceOf) {
  const { data } = useQuery(ask(r.targetTags.list, most));
  const options = (data?.content ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  return <Choice label={t.tag} value={value} onChange={onChange} options={[{ value: "", label: t.tagNone }, ...options]} />;
}

/** A choice of a type of devices. */
export function TypeChoice({ value, onChange, none = t.bulk.noType }: ChoiceOf) {
  const { data } = useQuery(ask(r.targetTypes.list, most));
  const options = (data?.content ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  return <Choice label={t.columns["type"] ?? ""} value={value} onChange={onChange} options={[{ value: "", label: none }, ...options]} />;
}
