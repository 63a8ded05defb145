/**
 * The words by which an API says that there is more, or how much there is. This is the data file of the verdict: it
 * holds names, {@link readSigns} does the looking. A name is compared word by word, so `nextPageToken`,
 * `next_page_token` and `Next-Page-Token` are one.
 */

/** `weak`: the name may as well mean something else, so it counts only where nothing clearer is said. */
export type Strength = 'strong' | 'plain' | 'weak';

/** Words that make a name a link to, or a token of, the next page. */
export const NEXT = ['next', 'continuation', 'continue'];
/** Words that may accompany them. `next_sync_token`, `next_billing_date` have other words, and are no signals. */
export const NEXT_COMPANIONS =
  words(`page pages token link links url uri href cursor offset key start id marker mark record records
  results after position skip batch set path query param params index number num no from value begin data items list row
  rows seq sequence chunk slice part iterator handle ref request page_token odata opc ms pagination result start_key
  evaluated startkey docid scroll header x`);
/** Whole names of the same meaning. */
export const NEXT_NAMES = [
  'last_evaluated_key',
  'more_url',
  'more_link',
  'load_more',
  'page_state',
  'older',
  'resumption_token',
];
/** Tokens that some APIs give with the last page, too. */
export const WEAK_NEXT_NAMES = [
  'cursor',
  'after',
  'page_token',
  'pagination_token',
  'scroll_id',
  'bookmark',
  'end_cursor',
];

/** The same for the page before: a first page that has one is not the first. */
export const PREVIOUS = ['previous', 'prev'];

/** Flags: false means that there are pages before. */
export const BEGIN_NAMES = ['first', 'is_first', 'is_first_page', 'first_page'];

/** Flags: true means more. A flag is true or false, or a text or number that means it. */
export const MORE_NAMES = words(`more has_more has_more_items has_more_results has_more_pages has_more_records
  has_more_data has_more_rows has_next has_next_page is_more is_more_available more_available more_results more_items
  more_records more_pages more_data more_rows more_items_in_collection more_data_available is_truncated truncated
  exceeded_transfer_limit next_page_exists next_page_available is_next_page_available has_next_link next_exists
  has_additional_pages has_additional_results has_remaining more_flag more_results_available more_items_available
  more_records_available more_pages_available more_rows_available more_result have_more_results`);
/** Flags: true means the end, false means more. */
export const END_NAMES = words(`last is_last last_page is_last_page done is_done end is_end eof end_of_stream
  end_of_results end_of_list end_of_data end_of_records is_final final is_finished finished is_complete complete
  no_more no_more_results no_more_pages exhausted is_exhausted at_end reached_end`);

/** Names of the number of all rows. More are understood from their words, see {@link TOTAL_NOUNS}. */
export const TOTAL_NAMES =
  words(`total total_count count_total total_results total_items total_records total_rows
  total_size total_elements total_hits total_entries total_objects total_documents total_number total_num total_found
  total_matches total_matched total_record_count total_available num_found num_results num_items number_of_results
  number_of_items number_of_records number_matched nb_hits nb_results records_total records_filtered items_total
  rows_total results_total full_count odata_count grand_total_count overall_count all_count collection_size
  total_result_count total_item_count total_row_count matched_count full_size list_size total_nums complete_list_size i_total_records
  i_total_display_records`);
/** Words that may stand beside `total`, besides the name of the list of rows. */
export const TOTAL_NOUNS =
  words(`count counts result results item items record records row rows size element elements
  hit hits entry entries object objects document documents doc docs number num found match matches matched matching
  available filtered list data of x odata collection query search overall all wp response no`);
/** The number of all rows, or of those of the page: they count where no other total is there. */
export const WEAK_TOTAL_NAMES =
  words(`count found matched matches hits available results record_count records_count
  result_count results_count item_count items_count row_count rows_count entry_count entries_count element_count
  object_count hit_count document_count docs_count doc_count`);
/** Things that the answer of an export may count in place of its rows, and the words beside them. */
export const COUNTED_THINGS =
  words(`row rows record records object objects item items result results entry entries
  document documents element elements hit hits line lines`);
export const COUNT_WORDS = words('count counts num number of total processed exported written returned');
/** Rows that are still to come. */
export const REMAINING_NAMES = words(`remaining_item_count remaining_items remaining_count remaining_results
  remaining_rows remaining_records items_remaining rows_remaining results_remaining records_remaining remaining_pages
  pages_remaining count_remaining`);
/** A total beside such a word is a guess, and no sign. */
export const VAGUE =
  words(`estimate estimated estimates estimation approx approximate approximated approximately rough
  guess about`);

export const PAGES_NAMES = words(`total_pages page_count pages pages_count last_page num_pages number_of_pages
  pages_total page_total max_page max_pages nb_pages count_pages last_page_number total_page total_page_count
  page_numbers total_num_pages wp_total_pages`);
export const PAGE_NAMES = words(`page current_page page_number page_num page_no page_index current cur_page
  current_page_number number`);
export const SIZE_NAMES =
  words(`limit per_page page_size max_results items_per_page page_limit pagelen page_len
  page_length rows_per_page results_per_page records_per_page size max_page_size count_per_page top entries_per_page
  limit_per_page max_items batch_size page_items`);
/** Further names of a page size in a request. */
export const ASKED_SIZE_NAMES =
  words(`count first last max n num rows take fetch limit_to results hits results_per
  hits_per_page max_count max_records max_rows max_keys maxkeys max_page max_per_page number_of_results num_results
  num_rows row_limit rowlimit record_limit page_count count_per return_count amount per per_page_count pagesize perpage
  pp ps rpp psize nb nb_results length chunk_size limit_value maxresults maxrecords maxsize max_size maxitems
  number_of_records list_limit rec_count`);
/** Sizes in an answer that are, in some standards, the number of the rows of the page. */
export const ROWS_OF_PAGE_NAMES = words('items_per_page page_items page_length');
/** Rows before the page. Those of the second list may count from 1. */
export const OFFSET_NAMES = words('offset skip start_at page_offset start_offset row_offset');
export const POSITION_NAMES = words(
  'start start_index from start_position start_row first_item starting_at from_item',
);

/** Keys that an error may have besides its own. */
export const ERROR_COMPANIONS =
  words(`timestamp time date path request_id requestid trace_id correlation_id instance
  type help more_info documentation_url doc_url docs href url method retry_after id ref version api_version hint cause
  data result results items messages warnings meta param params field status_text`);

/** Names of an error in an answer whose status is a success. */
export const ERROR_NAMES =
  words(`error errors error_message error_messages error_code error_description error_msg
  error_text fault exception errmsg errcode error_type error_details error_info err`);
/** False means an error. */
export const SUCCESS_NAMES = words('ok success successful is_success succeeded is_successful');
/** True means an error. */
export const FAILURE_NAMES =
  words(`is_error has_errors has_error failed failure is_failed throttled is_throttled
  rate_limited is_rate_limited rate_limit_exceeded quota_exceeded`);
/** A number of 400 to 599, one below 0, or one of {@link BAD_STATES}. */
export const STATE_NAMES =
  words(`status status_code code state result http_status http_code response_code result_code
  return_code ret_code ret stat`);
export const BAD_STATES =
  words(`error errors fail failed failure fault exception throttled rate_limited unauthorized
  forbidden timeout`);
/** Texts that tell of an error on a page where the rows are missing. */
export const MESSAGE_NAMES = words('message msg detail details reason description title');
/** Messages of an honest end. */
export const NO_ROWS_MESSAGE =
  /\bno\b|\bnot found\b|\bnone\b|\bempty\b|\b0\b|\bend of\b|\bnothing\b|\bok\b|\bsuccess/i;

/** Errors of a page behind the last one. */
export const END_MESSAGE =
  /no more|out of (?:range|bounds)|beyond|past the (?:end|last)|no (?:results|data|records|rows|items)|end of/i;

/** True, or above 0: the answer itself is only a part. */
export const PARTIAL_NAMES = words(`timed_out partial is_partial partial_results incomplete incomplete_results
  terminated_early is_incomplete results_truncated limit_reached is_limit_reached limit_exceeded size_limit_exceeded
  result_limit_reached results_limited is_limited overflow`);

/** A value under one of these names makes an object a thing with a list, and no page of a list. */
export const ENTITY_NAMES =
  words(`id _id uuid guid currency price amount subtotal sub_total tax vat email created_at
  updated_at created_on updated_on created updated created_date`);

/** Texts that stand for no value. */
export const NO_VALUE = /^(?:|null|none|nil|undefined|false|end|eof|-1|0)$/i;

/** Response headers that are looked at: those of paging, and none of limits of use, of caches or of contents. */
export const HEADER =
  /^(?:link|content-range|x-pagination)$|total|count|next|more|page|cursor|continuation|truncated/;
export const NOT_A_HEADER =
  /rate|quota|cache|content-(?!range)|request|runtime|view|encoding|retry|access-control/;

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}
