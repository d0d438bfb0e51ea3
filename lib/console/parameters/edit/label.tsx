// The label and unit of a parameter, which are written to the flow file that declares the parameter.

import { createSignal } from 'solid-js';
import type { About } from '../../../client/index.ts';
import { parseAddress } from '../../../model/address.ts';
import { findSource, partOf, sendEdit } from '../../editor/source-file.ts';
import type { Op, SourceFile } from '../../editor/source-tree.ts';
import { createAttempt } from '../../hub/page-request.ts';
import { DetailForm } from './detail-form.tsx';

const longestLabel = 200;
const longestUnit = 16;

/** A form for the label and unit of a parameter. `close` is called when the label has been saved or the form has been cancelled. */
export default function LabelForm(props: {
  readonly address: string;
  readonly about: About | undefined;
  readonly close: () => void;
}) {
  const [label, setLabel] = createSignal(props.about?.label ?? '');
  const [unit, setUnit] = createSignal(props.about?.unit ?? '');
  const { failure, isBusy, run } = createAttempt(() => failure() === '' && props.close());
  const save = () => void run(() => saveAbout(props.address, { label: label().trim(), unit: unit().trim() }));
  return (
    <DetailForm verb="Save" canSave={!isBusy()} failure={failure()} save={save} close={() => props.close()}>
      <label>
        Label{' '}
        <input
          ref={(field) => queueMicrotask(() => field.focus())}
          value={label()}
          maxLength={longestLabel}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => setLabel(value)}
        />
      </label>
      <label>
        Unit{' '}
        <input
          class="short"
          value={unit()}
          maxLength={longestUnit}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => setUnit(value)}
        />
      </label>
    </DetailForm>
  );
}

type Wanted = Readonly<Record<'label' | 'unit', string>>;

/**
 * Saves a label and a unit; an empty value removes the parameter's own label or unit. Errors: `Error` if none of the user's files declares
 * the parameter; a `Refusal`.
 */
async function saveAbout(address: string, wanted: Wanted): Promise<void> {
  const { connectionId } = parseAddress(address);
  const source = await findSource(['describe', address], ['connections', connectionId]);
  if (source === undefined)
    throw new Error(
      `the connection ${connectionId} is not declared in any flow file that you can edit here; its label must be set under "describe" in the file that declares it`,
    );
  const ops = opsFor(source, address, wanted);
  if (ops.length === 0) return;
  const { errors } = await sendEdit(
    [{ file: source.file, base: source.etag, ops }],
    'save',
    `change the label or unit of ${address}`,
  );
  const [first] = errors;
  if (first !== undefined) throw new Error(`${first.file}:${first.line ?? 1}: ${first.path}: ${first.message}`);
}

/** Returns the smallest edits that give a parameter the wanted label and unit: equal parts stay as written. */
function opsFor({ tree }: SourceFile, address: string, wanted: Wanted): readonly Op[] {
  const given = Object.entries(wanted).filter(([, text]) => text !== '');
  const own = partOf(tree, 'describe', address);
  if (own === undefined) {
    if (given.length === 0) return [];
    const about = Object.fromEntries(given);
    return partOf(tree, 'describe') === undefined
      ? [{ path: 'describe', set: { [address]: about } }]
      : [{ path: `describe[${JSON.stringify(address)}]`, set: about }];
  }
  return Object.entries(wanted).flatMap(([key, text]): Op[] => {
    const path = `${own.path}.${key}`;
    const present = partOf(own, key);
    if (text === '') return present === undefined ? [] : [{ path, remove: true }];
    return present?.value === text ? [] : [{ path, set: text }];
  });
}
