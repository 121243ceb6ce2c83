import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { invalidate, queryClient } from "../api/query-client.ts";
import { common, kinds as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Check, Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Failure, Skeleton } from "../ui/states.tsx";
import type { Kind, KindOf, Links } from "./kinds.ts";
import style from "./settings.module.css";

interface KindFormProps {
  readonly kind: KindOf;
  /** What is changed; absent, a new one is made. */
  readonly of: Kind | undefined;
  readonly close: () => void;
}

type Chosen = Readonly<Record<string, readonly number[]>>;

/** Makes a type or a tag, or changes it. What it is, and its links, are read first, so that only what differs is sent. */
export function KindForm({ kind, of, close }: KindFormProps) {
  if (of === undefined) return <Known kind={kind} linked={{}} close={close} />;
  return (
    <Reading asked={kind.get(of.id)} title={of.name} close={close}>
      {(seen) => <Linked kind={kind} seen={seen} close={close} />}
    </Reading>
  );
}

type SeenProps = Omit<KindFormProps, "of"> & { readonly seen: Seen<Kind> };

function Linked({ kind, seen, close }: SeenProps) {
  const { data, error, refetch } = useQuery({
    queryKey: [kind.feature, "links", seen.body.id],
    gcTime: 0,
    queryFn: async (): Promise<Chosen> => {
      const lists = await Promise.all(kind.links.map((link) => queryClient.fetchQuery(link.current(seen.body.id))));
      return Object.fromEntries(kind.links.map(({ member }, index) => [member, (lists[index] ?? []).map(({ id }) => id)]));
    },
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={2} />;
  return <Known kind={kind} seen={seen} close={close} linked={data} relinked={refetch} />;
}

/** The values of the text fields. */
interface Texts {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly colour: string;
  readonly maxAssignments: string;
  readonly minArtifacts: string;
}

const textsOf = (of: Kind | undefined): Texts => ({
  key: of?.key ?? "",
  name: of?.name ?? "",
  description: of?.description ?? "",
  colour: of?.colour ?? "",
  maxAssignments: String(of?.maxAssignments ?? 1),
  minArtifacts: String(of?.minArtifacts ?? 0),
});

const isWhole = (text: string) => /^\d+$/.test(text.trim());

interface KnownProps extends Omit<SeenProps, "seen"> {
  readonly seen?: Seen<Kind>;
  /** The links that it has. */
  readonly linked: Chosen;
  /** Reads the links again. */
  readonly relinked?: () => Promise<unknown>;
}

/** Changes one and then its links. If a link is refused, all is read again, because the rest is as it was sent: the next try sends what is left. */
async function update({ kind, seen, linked, relinked }: KnownProps & { seen: Seen<Kind> }, changed: Partial<Texts>, chosen: Chosen) {
  const body = changesOf(changed);
  if (Object.keys(body).length > 0) await kind.update(seen.body.id, body, seen.tag);
  try {
    await relink(kind, seen.body.id, linked, chosen);
  } catch (error) {
    await Promise.allSettled([seen.again(), relinked?.()]);
    throw error;
  }
}

async function create(kind: KindOf, texts: Texts, chosen: Chosen) {
  const links = Object.entries(chosen).map(([member, ids]) => [member, ids.map((id) => ({ id }))] as const);
  await kind.create({ ...bodyOf(kind, texts), ...Object.fromEntries(links) });
}

function Known(props: KnownProps) {
  const { kind, seen, close, linked } = props;
  const of = seen?.body;
  const { value: texts, edit, changed } = useEdits(textsOf(of));
  const [chosen, setChosen] = useState(linked);
  const run = async () => {
    if (seen) await update({ ...props, seen }, changed, chosen);
    else await create(kind, texts, chosen);
    await invalidate(kind.feature);
  };
  return (
    <FormDialog
      open
      close={close}
      title={of?.name ?? (kind.isType ? t.newType : t.newTag)}
      button={of ? common.save : common.create}
      again={seen?.again}
      why={whyNot(kind, texts)}
      run={run}
    >
      {kind.isType && (
        <Field
          label={t.key}
          hint={t.keyHint}
          value={texts.key}
          onChange={(key) => edit({ key })}
          maxLength={limits.typeKey}
          readOnly={of !== undefined}
        />
      )}
      <Field
        label={common.name}
        value={texts.name}
        onChange={(name) => edit({ name })}
        maxLength={limits.name}
        readOnly={of !== undefined && !kind.renames}
        hint={of !== undefined && !kind.renames ? t.fixedName : undefined}
      />
      <Field
        label={common.description}
        value={texts.description}
        onChange={(description) => edit({ description })}
        maxLength={limits.description}
      />
      <Field label={t.colour} hint={t.colourHint} value={texts.colour} onChange={(colour) => edit({ colour })} maxLength={limits.colour} />
      {kind.numbers && (
        <>
          <Field
            label={t.maxAssignments}
            value={texts.maxAssignments}
            onChange={(maxAssignments) => edit({ maxAssignments })}
            inputMode="numeric"
            readOnly={of !== undefined}
          />
          <Field
            label={t.minArtifacts}
            value={texts.minArtifacts}
            onChange={(minArtifacts) => edit({ minArtifacts })}
            inputMode="numeric"
          />
        </>
      )}
      {kind.links.map((link) => (
        <LinkChoice
          key={link.member}
          link={link}
          chosen={chosen[link.member] ?? []}
          choose={(ids) => setChosen({ ...chosen, [link.member]: ids })}
        />
      ))}
    </FormDialog>
  );
}

function whyNot(kind: KindOf, { key, name, maxAssignments, minArtifacts }: Texts): string | undefined {
  if (kind.isType && key.trim() === "") return t.keyFirst;
  if (name.trim() === "") return common.nameFirst;
  return kind.numbers && !(isWhole(maxAssignments) && isWhole(minArtifacts)) ? t.whole : undefined;
}

/** The members of a new one: what was left empty is left out. */
function bodyOf(kind: KindOf, { key, name, description, colour, maxAssignments, minArtifacts }: Texts) {
  return {
    ...(kind.isType && { key: key.trim() }),
    name: name.trim(),
    ...(description.trim() !== "" && { description: description.trim() }),
    ...(colour.trim() !== "" && { colour: colour.trim() }),
    ...(kind.numbers && { minArtifacts: Number(minArtifacts), maxAssignments: Number(maxAssignments) }),
  };
}

/** The members that were changed: one that was emptied is sent empty, which removes it. */
function changesOf({ minArtifacts, ...texts }: Partial<Texts>) {
  return { ...texts, ...(minArtifacts !== undefined && { minArtifacts: Number(minArtifacts) }) };
}

/** Adds and removes what differs, one after the other: the server locks the type for each. */
async function relink(kind: KindOf, id: number, before: Chosen, after: Chosen): Promise<void> {
  for (const { member, add, remove } of kind.links) {
    const [old, next] = [before[member] ?? [], after[member] ?? []];
    for (const one of old.filter((known) => !next.includes(known))) await remove(id, one);
    for (const one of next.filter((wanted) => !old.includes(wanted))) await add(id, one);
  }
}

function LinkChoice({ link, chosen, choose }: { link: Links; chosen: readonly number[]; choose: (ids: readonly number[]) => void }) {
  const { data } = useQuery(link.offered);
  return (
    <fieldset className={style["area"]}>
      <legend>{link.label}</legend>
      {data?.content.map(({ id, name }) => (
        <Check
          key={id}
          label={name}
          checked={chosen.includes(id)}
          onChange={(on) => choose(on ? [...chosen, id] : chosen.filter((one) => one !== id))}
        />
      ))}
    </fieldset>
  );
}
