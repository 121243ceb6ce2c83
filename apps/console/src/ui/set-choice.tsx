import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, r } from "../api/client.ts";
import { quoted } from "../fiql/complete.ts";
import { sets as t } from "../text/en.ts";
import { Choice, Field } from "./field.tsx";
import { Failure } from "./states.tsx";

interface SetChoiceProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly label?: string;
  /** Sets that cannot be installed may be chosen too. */
  readonly any?: boolean;
}

/** So many sets are offered; more are found by their name. */
const offered = 50;

/** A choice of a distribution set; those that cannot be installed are shown and say why. */
export function SetChoice({ value, onChange, label = t.set, any = false }: SetChoiceProps) {
  const [text, setText] = useState("");
  const q = text.trim() === "" ? undefined : `name==${quoted(`*${text.trim()}*`)},version==${quoted(`${text.trim()}*`)}`;
  const { data, error, refetch } = useQuery(ask(r.distributionSets.list, { query: { q, limit: offered, sort: "id:DESC" } }));
  const isOffered = value === "" || data === undefined || data.content.some(({ id }) => String(id) === value);
  const { data: chosen } = useQuery({ ...ask(r.distributionSets.list, { query: { q: `id==${value}`, limit: 1 } }), enabled: !isOffered });
  const options = [...(isOffered ? [] : (chosen?.content ?? [])), ...(data?.content ?? [])].map(
    ({ id, name, version, complete, valid }) => ({
      value: String(id),
      label: `${name} ${version}${complete === false ? ` — ${t.incomplete}` : valid === false ? ` — ${t.invalid}` : ""}`,
      disabled: !any && (complete === false || valid === false),
    }),
  );
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {(data?.total ?? 0) > offered || text !== "" ? (
        <Field label={label === t.set ? t.find : t.findFor(label)} value={text} onChange={setText} />
      ) : null}
      <Choice label={label} value={value} onChange={onChange} options={[{ value: "", label: t.choose }, ...options]} />
    </>
  );
}
