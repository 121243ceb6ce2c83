import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { FilterField } from "../fiql/filter-field.tsx";
import { wizard as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Check, Choice, Field, Segments } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { SetChoice } from "../ui/set-choice.tsx";
import style from "./wizard.module.css";
import { type Draft, type GroupDraft, type Template, withTemplate } from "./wizard.state.ts";

interface StepProps {
  readonly draft: Draft;
  readonly edit: (part: Partial<Draft>) => void;
}

const optionsOf = (words: Readonly<Record<string, string>>) => Object.entries(words).map(([value, label]) => ({ value, label }));

/** What is installed. */
export function WhatStep({ draft, edit }: StepProps) {
  return (
    <>
      <Field label={t.name} hint={t.nameHint} value={draft.name} onChange={(name) => edit({ name })} maxLength={limits.name} autoFocus />
      <SetChoice value={draft.set} onChange={(set) => edit({ set })} />
      <Field
        label={t.description}
        value={draft.description}
        onChange={(description) => edit({ description })}
        maxLength={limits.description}
        lines
      />
    </>
  );
}

/** Which devices take part. */
export function WhoStep({ draft, edit }: StepProps) {
  const { data } = useQuery(ask(r.targetFilters.list, { query: { limit: 100, sort: "name:ASC" } }));
  const saved = data?.content ?? [];
  return (
    <>
      <FilterField
        label={t.filter}
        hint={t.filterHint}
        placeholder={t.filterPlaceholder}
        value={draft.q}
        onChange={(q) => edit({ q })}
        autoFocus
      />
      <div className={style["offers"]}>
        <Button onClick={() => edit({ q: t.filterPlaceholder })}>{t.everybody}</Button>
        {saved.length > 0 && (
          <Choice
            hideLabel
            label={t.saved}
            value={draft.q}
            onChange={(q) => edit({ q })}
            options={[{ value: "", label: t.saved }, ...saved.map(({ name, query }) => ({ value: query, label: name }))]}
          />
        )}
      </div>
    </>
  );
}

/** In which groups, and what stops it. */
export function HowStep({ draft, edit }: StepProps) {
  const { template } = draft;
  const own = template === "canary" || template === "own";
  return (
    <>
      <div>
        <Segments
          label={t.template}
          value={template}
          onChange={(value) => edit(withTemplate(draft, value as Template))}
          options={optionsOf(t.templates)}
        />
      </div>
      <p className="muted">{t.templateText[template]}</p>
      {template === "equal" && <Field label={t.amount} value={draft.amount} onChange={(amount) => edit({ amount })} inputMode="numeric" />}
      {own ? (
        <GroupRows groups={draft.groups} onChange={(groups) => edit({ template: "own", groups })} />
      ) : (
        <>
          <div className={style["row"]}>
            {template === "equal" && (
              <Field label={t.success} value={draft.success} onChange={(success) => edit({ success })} inputMode="numeric" />
            )}
            <Field label={t.error} value={draft.error} onChange={(error) => edit({ error })} inputMode="numeric" />
          </div>
          <p className="muted">
            {template === "equal" && t.nextAt(draft.success)} {t.pauseAbove(draft.error)}
          </p>
        </>
      )}
    </>
  );
}

function GroupRows({ groups, onChange }: { groups: readonly GroupDraft[]; onChange: (groups: GroupDraft[]) => void }) {
  const edit = (index: number, part: Partial<GroupDraft>) =>
    onChange(groups.map((group, at) => (at === index ? { ...group, ...part } : group)));
  const add = () => onChange([...groups, { name: `group-${groups.length + 1}`, percent: "100", success: "90", error: "10" }]);
  return (
    <div className={style["groups"]}>
      {groups.map((group, index) => (
        <div key={index} className={style["group"]}>
          <Field label={t.groupName} value={group.name} onChange={(name) => edit(index, { name })} maxLength={limits.name} />
          <Field label={t.percent} value={group.percent} onChange={(percent) => edit(index, { percent })} inputMode="numeric" />
          {index < groups.length - 1 ? (
            <Field label={t.success} value={group.success} onChange={(success) => edit(index, { success })} inputMode="numeric" />
          ) : (
            <span className={`${style["last"]} muted`}>{t.last}</span>
          )}
          <Field label={t.error} value={group.error} onChange={(error) => edit(index, { error })} inputMode="numeric" />
          <Button look="ghost" aria-label={t.removeGroup(group.name)} onClick={() => onChange(groups.filter((_, at) => at !== index))}>
            <X size={14} aria-hidden />
          </Button>
          <p className="muted">
            {t.takes(group.percent, index === 0)} {index < groups.length - 1 && t.nextAt(group.success)} {t.pauseAbove(group.error)}
          </p>
        </div>
      ))}
      <div>
        <Button small onClick={add}>
          {t.addGroup}
        </Button>
      </div>
    </div>
  );
}

/** When it begins, and when a device may install. */
export function WhenStep({ draft, edit }: StepProps) {
  return (
    <>
      <Choice label={t.type} value={draft.type} onChange={(type) => edit({ type: type as Draft["type"] })} options={optionsOf(t.types)} />
      <div>
        <Segments
          label={t.start}
          value={draft.start}
          onChange={(start) => edit({ start: start as Draft["start"] })}
          options={optionsOf(t.starts)}
        />
      </div>
      {draft.start === "at" && (
        <Field label={t.startAt} type="datetime-local" value={draft.startAt} onChange={(startAt) => edit({ startAt })} />
      )}
      <Field label={t.weight} hint={t.weightHint} value={draft.weight} onChange={(weight) => edit({ weight })} inputMode="numeric" />
      <Check label={t.windowText} checked={draft.hasWindow} onChange={(hasWindow) => edit({ hasWindow })} />
      {draft.hasWindow && (
        <div className={style["row"]}>
          <Field label={t.schedule} hint={t.scheduleHint} value={draft.schedule} onChange={(schedule) => edit({ schedule })} />
          <Field label={t.duration} value={draft.duration} onChange={(duration) => edit({ duration })} />
          <Field label={t.zone} value={draft.zone} onChange={(zone) => edit({ zone })} />
        </div>
      )}
    </>
  );
}
