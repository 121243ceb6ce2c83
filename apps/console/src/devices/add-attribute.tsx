import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { ask, r } from "../api/client.ts";
import { devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { type AttributeColumn, attributesMost } from "./devices.state.ts";

interface AddAttributeProps {
  readonly shown: readonly AttributeColumn[];
  readonly add: (id: AttributeColumn) => void;
}

/** Adds what devices say about themselves as a column; the names that they use are offered. */
export function AddAttribute({ shown, add }: AddAttributeProps) {
  const [key, setKey] = useState("");
  const list = useId();
  const name = key.trim();
  const { data } = useQuery({
    ...ask(r.targets.suggest, { query: { field: "attribute", prefix: name.slice(0, 128), limit: 20 } }),
    staleTime: 30_000,
  });
  const isThere = shown.includes(`attribute.${name}`);
  const why = shown.length >= attributesMost ? t.attributesMost(attributesMost) : name === "" || isThere ? t.attributeHint : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (why !== undefined) return;
    add(`attribute.${name}`);
    setKey("");
  };
  return (
    <form onSubmit={submit}>
      <Field
        label={t.attribute}
        hint={t.attributeHint}
        value={key}
        onChange={setKey}
        maxLength={limits.name}
        list={list}
        spellCheck={false}
      />
      <datalist id={list}>
        {data?.values.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <Button small type="submit" why={why}>
        {t.attributeAdd}
      </Button>
    </form>
  );
}
