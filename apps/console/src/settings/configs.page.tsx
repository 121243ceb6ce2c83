import type { ConfigSchemaView, ConfigView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { askTagged, change, r, type Tagged } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, settingTitles, states, settings as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, Outcome, useRun } from "../ui/confirm.tsx";
import { Check, Field } from "../ui/field.tsx";
import { moment } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { useUnsaved } from "../ui/unsaved.tsx";
import { changesOf, partOf, readValue, type Value } from "./configs.state.ts";
import { schemaOfConfigs } from "./schema.ts";
import style from "./settings.module.css";

/** The settings of one part, by the schema that the server tells. */
export function Configs({ part }: { part: string }) {
  const schema = useQuery(schemaOfConfigs);
  const values = useQuery(askTagged(r.configs.list));
  const failed = schema.error ?? values.error;
  const again = () => void Promise.all([schema.refetch(), values.refetch()]);
  if (schema.data === undefined || values.data === undefined)
    return failed === null ? <Skeleton lines={8} /> : <Failure error={failed} retry={again} />;
  const rows = schema.data.filter((row) => partOf(row) === part);
  const read = async () => (await values.refetch({ throwOnError: true })).data;
  return <Form key={part} rows={rows} now={values.data} read={read} />;
}

const titleOf = (key: string) => settingTitles[key] ?? key;

type Texts = Readonly<Record<string, string>>;
type Known = Tagged<Readonly<Record<string, ConfigView>>>;

interface FormProps {
  readonly rows: readonly ConfigSchemaView[];
  /** The settings as they are now. */
  readonly now: Known;
  readonly read: () => Promise<Known | undefined>;
}

function Form({ rows, now, read: readAgain }: FormProps) {
  // What others change while somebody types is shown when it is asked for: what is sent is what was seen.
  const [held, setHeld] = useState<Known>();
  const { body: known, tag } = held ?? now;
  const [texts, setTexts] = useState<Texts>({});
  const [flags, setFlags] = useState<Readonly<Record<string, boolean>>>({});
  const lacking = useLacking(r.configs.putMany);
  const read = rows.filter(({ key }) => texts[key] !== undefined).map((row) => ({ row, ...readValue(row, texts[row.key] ?? "") }));
  const wrong = read.find(({ problem }) => problem !== undefined);
  const values: Record<string, Value> = { ...flags };
  for (const { row, value } of read) if (value !== undefined) values[row.key] = value;
  const changes = changesOf(values, known);
  const undo = () => {
    setTexts({});
    setFlags({});
    setHeld(undefined);
    runs.reset();
  };
  const run = async () => {
    await change(r.configs.putMany, { body: changes, ifMatch: tag });
    await invalidate("configs");
    undo();
    toast(t.saved);
  };
  const runs = useRun(run, () => undefined);
  const { busy, start } = runs;
  const reset = async () => {
    if (held !== undefined) setHeld(await readAgain());
  };
  const none = Object.keys(changes).length === 0 ? common.nothingChanged : undefined;
  const unsaved = useUnsaved((none === undefined || wrong !== undefined) && !busy);
  const why = (lacking && states.missing(lacking)) ?? (wrong ? t.wrong(titleOf(wrong.row.key)) : none);
  return (
    <>
      <Card plain>
        {rows.map((row) => (
          <Setting
            key={row.key}
            row={row}
            known={known[row.key]}
            text={texts[row.key]}
            flag={flags[row.key]}
            problem={read.find((one) => one.row === row)?.problem}
            reset={reset}
            edit={(value) => {
              setHeld(held ?? now);
              unsaved.stay();
              if (typeof value === "boolean") setFlags({ ...flags, [row.key]: value });
              else setTexts({ ...texts, [row.key]: value });
            }}
          />
        ))}
      </Card>
      <div className={style["bar"]}>
        <Outcome of={runs} again={async () => setHeld(await readAgain())} />
        {unsaved.question}
        <div className={style["buttons"]}>
          {none === undefined && <span className="muted">{t.changes(Object.keys(changes).length)}</span>}
          {(none === undefined || wrong !== undefined) && <Button onClick={undo}>{t.undo}</Button>}
          <Button look="primary" why={busy ? t.asked : why} onClick={start}>
            {common.save}
          </Button>
        </div>
      </div>
    </>
  );
}

interface SettingProps {
  readonly row: ConfigSchemaView;
  readonly known: ConfigView | undefined;
  readonly text: string | undefined;
  readonly flag: boolean | undefined;
  readonly problem: keyof typeof t.problems | undefined;
  readonly edit: (value: string | boolean) => void;
  /** The setting has been reset. */
  readonly reset: () => Promise<void>;
}

function Setting({ row, known, text, flag, problem, edit, reset }: SettingProps) {
  const { key, fixed, readPermission } = row;
  const hidden = useLacking({ permission: readPermission === undefined ? [] : [readPermission] });
  return (
    <div className={style["setting"]}>
      <div>
        <b>{titleOf(key)}</b>
        <p>{row.text}</p>
        <p className="muted">{[fixed, row.oneWay ? t.oneWay : undefined, rangeOf(row)].filter(Boolean).join(" · ")}</p>
        <p className={style["key"]}>{key}</p>
      </div>
      <div className={style["value"]}>
        {hidden === undefined ? (
          <Control row={row} value={flag ?? text ?? known?.value} problem={problem} edit={edit} />
        ) : (
          <span className="muted">{states.missing(hidden)}</span>
        )}
        {known !== undefined && !known.global && <Reset row={row} known={known} done={reset} />}
      </div>
    </div>
  );
}

function rangeOf({ minimum, maximum, words }: ConfigSchemaView): string | undefined {
  if (words !== undefined) return t.words(words.join(", "));
  if (minimum === undefined) return maximum === undefined ? undefined : t.atMost(String(maximum));
  return maximum === undefined ? t.atLeast(String(minimum)) : t.between(String(minimum), String(maximum));
}

function Control({ row, value, problem, edit }: Pick<SettingProps, "row" | "problem" | "edit"> & { value: Value | undefined }) {
  if (row.type === "boolean")
    return <Check label={t.on} of={titleOf(row.key)} checked={value === true} onChange={edit} disabled={row.fixed !== undefined} />;
  return (
    <Field
      label={titleOf(row.key)}
      hideLabel
      value={String(value ?? "")}
      onChange={edit}
      disabled={row.fixed !== undefined}
      error={problem && t.problems[problem]}
      spellCheck={false}
      {...(row.type === "integer" && { inputMode: "numeric" as const })}
      // Whoever may read a credential opens the page for other settings too, with somebody beside them.
      {...(row.readPermission !== undefined && { type: "password", autoComplete: "off" })}
    />
  );
}

interface ResetProps {
  readonly row: ConfigSchemaView;
  readonly known: ConfigView;
  /** It has been reset, so that what was seen before holds no longer. */
  readonly done: () => Promise<void>;
}

function Reset({ row: { key, default: standard, oneWay }, known, done }: ResetProps) {
  const lacking = useLacking(r.configs.delete);
  const run = async () => {
    await change(r.configs.delete, { params: { key } });
    await invalidate("configs");
    await done();
  };
  return (
    <>
      <span className="muted">
        {known.lastModifiedAt !== undefined && t.setBy(known.lastModifiedBy ?? "", moment(known.lastModifiedAt))}
      </span>
      <Confirm
        small
        why={(lacking && states.missing(lacking)) ?? (oneWay && known.value === true ? t.oneWay : undefined)}
        trigger={t.reset}
        title={t.resetTitle(titleOf(key))}
        text={t.resetText(standard === undefined || standard === "" ? t.empty : String(standard))}
        button={t.reset}
        run={run}
      />
    </>
  );
}
