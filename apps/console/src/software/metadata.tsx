import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Asked, Tagged } from "../api/client.ts";
import { common, states, softwareNotes as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Check, Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { type Entry, useModuleNotes, useSetNotes } from "./notes.ts";

interface Notes {
  readonly list: Asked<{ readonly content: readonly Entry[] }>;
  readonly seen: (key: string) => Asked<Tagged<Entry>>;
  readonly lacksCreate: string | undefined;
  readonly lacksUpdate: string | undefined;
  readonly lacksDelete: string | undefined;
  readonly create: (entry: Entry) => Promise<void>;
  readonly update: (key: string, changed: Partial<Entry>, tag: string | undefined) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
}

/** Notes of people and programs about a set. */
export const SetMetadata = ({ setId }: { setId: number }) => <Metadata notes={useSetNotes(setId)} visible={false} />;

/** The same about a module; devices get those that say so. */
export const ModuleMetadata = ({ moduleId }: { moduleId: number }) => <Metadata notes={useModuleNotes(moduleId)} visible />;

interface MetadataProps {
  readonly notes: Notes;
  /** Entries say whether devices get them. */
  readonly visible: boolean;
}

function Metadata({ notes, visible }: MetadataProps) {
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<string>();
  const { data, error, refetch } = useQuery(notes.list);
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  const button = (
    <Button small why={notes.lacksCreate && states.missing(notes.lacksCreate)} onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <Card title={t.title} aside={button} plain={data.content.length > 0}>
      {data.content.length === 0 && <p className="muted">{visible ? t.emptyModule : t.emptySet}</p>}
      {data.content.length > 0 && <Entries entries={data.content} notes={notes} visible={visible} edit={setEditing} />}
      {adding && <Add notes={notes} visible={visible} close={() => setAdding(false)} />}
      {editing !== undefined && (
        <Reading asked={notes.seen(editing)} title={t.editTitle(editing)} close={() => setEditing(undefined)}>
          {(seen) => <Edit notes={notes} visible={visible} seen={seen} close={() => setEditing(undefined)} />}
        </Reading>
      )}
    </Card>
  );
}

function Entries({ entries, notes, visible, edit }: MetadataProps & { entries: readonly Entry[]; edit: (key: string) => void }) {
  return (
    <Table columns={[t.key, t.value, visible && t.devices, { hidden: common.actions }]}>
      {entries.map(({ key, value, targetVisible }) => (
        <tr key={key}>
          <td className="mono">{key}</td>
          <td>{value}</td>
          {visible && <td className="muted">{targetVisible ? t.sent : t.notSent}</td>}
          <td>
            <Button
              small
              look="ghost"
              aria-label={`${common.edit}: ${key}`}
              why={notes.lacksUpdate && states.missing(notes.lacksUpdate)}
              onClick={() => edit(key)}
            >
              {common.edit}
            </Button>
            <Confirm
              small
              look="ghost"
              why={notes.lacksDelete && states.missing(notes.lacksDelete)}
              trigger={common.delete}
              title={common.deleteTitle(key)}
              text=""
              button={common.delete}
              run={() => notes.remove(key)}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Add({ notes, visible, close }: MetadataProps & { close: () => void }) {
  const [entry, setEntry] = useState({ key: "", value: "", targetVisible: false });
  const edit = (part: Partial<typeof entry>) => setEntry({ ...entry, ...part });
  const run = () => notes.create({ ...entry, key: entry.key.trim() });
  return (
    <FormDialog open close={close} title={t.add} button={common.save} why={entry.key.trim() === "" ? t.keyFirst : undefined} run={run}>
      <Field label={t.key} value={entry.key} onChange={(key) => edit({ key })} maxLength={limits.metadataKey} autoFocus />
      <Field label={t.value} value={entry.value} onChange={(value) => edit({ value })} maxLength={limits.metadataValue} lines />
      {visible && <Check label={t.send} checked={entry.targetVisible} onChange={(targetVisible) => edit({ targetVisible })} />}
    </FormDialog>
  );
}

function Edit({ notes, visible, seen: { body, tag, again }, close }: MetadataProps & { seen: Seen<Entry>; close: () => void }) {
  const { value, edit, changed, nothing } = useEdits({ value: body.value ?? "", targetVisible: body.targetVisible ?? false });
  const run = () => notes.update(body.key, changed, tag);
  return (
    <FormDialog open close={close} title={t.editTitle(body.key)} button={common.save} why={nothing} run={run} again={again}>
      <Field
        label={t.value}
        value={value.value}
        onChange={(next) => edit({ value: next })}
        maxLength={limits.metadataValue}
        lines
        autoFocus
      />
      {visible && <Check label={t.send} checked={value.targetVisible} onChange={(targetVisible) => edit({ targetVisible })} />}
    </FormDialog>
  );
}
