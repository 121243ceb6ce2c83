import type { EventType, WebhookView } from "@harrier/contracts";
import { useState } from "react";
import { change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { eventWords } from "../text/en/event-types.ts";
import { common, webhooks as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Check, Field } from "../ui/field.tsx";
import type { Secret } from "../ui/secret.tsx";
import style from "./settings.module.css";

interface WebhookFormProps {
  readonly of: WebhookView | undefined;
  readonly close: () => void;
  readonly made: (secret: Secret) => void;
}

const known = Object.entries(eventWords) as [EventType, string][];

/** Makes a webhook, or changes it. */
export function WebhookForm({ of, close, made }: WebhookFormProps) {
  const [name, setName] = useState(of?.name ?? "");
  const [url, setUrl] = useState(of?.url ?? "");
  const [all, setAll] = useState(of?.types === undefined);
  const [types, setTypes] = useState<readonly string[]>(of?.types ?? []);
  const [enabled, setEnabled] = useState(of?.enabled ?? true);
  const [secret, setSecret] = useState("");
  const run = async () => {
    const chosen = (all ? undefined : types) as EventType[] | undefined;
    const body = { name: name.trim(), url: url.trim(), enabled, ...(chosen && { types: chosen }), ...(secret !== "" && { secret }) };
    if (of) await change(r.webhooks.update, { params: { webhookId: of.id }, body });
    else {
      const [hook] = await change(r.webhooks.create, { body: [body] });
      if (hook) made({ title: t.secretOf(hook.name), secret: hook.secret });
    }
    await invalidate("webhooks");
  };
  const why = name.trim() === "" ? common.nameFirst : url.trim() === "" ? t.urlFirst : all || types.length > 0 ? undefined : t.noTypes;
  return (
    <FormDialog open close={close} title={of?.name ?? t.new} text={t.text} button={of ? common.save : common.create} why={why} run={run}>
      <Field label={common.name} value={name} onChange={setName} maxLength={64} autoFocus />
      <Field label={t.url} hint={t.urlHint} type="url" value={url} onChange={setUrl} maxLength={2000} />
      <Check label={t.enabled} checked={enabled} onChange={setEnabled} />
      <fieldset className={style["area"]}>
        <legend>{t.types}</legend>
        {/* A webhook of some types cannot become one of all: absent members stay as they are. */}
        {(of === undefined || of.types === undefined) && <Check label={t.all} checked={all} onChange={setAll} />}
        {!all &&
          known.map(([type, words]) => (
            <Check
              key={type}
              label={words}
              hint={type}
              checked={types.includes(type)}
              onChange={(on) => setTypes(on ? [...types, type] : types.filter((one) => one !== type))}
            />
          ))}
      </fieldset>
      <Field
        label={of ? t.newSecret : t.secret}
        hint={of ? t.newSecretHint : t.secretHint}
        value={secret}
        onChange={setSecret}
        spellCheck={false}
      />
    </FormDialog>
  );
}
