"""Files whatever they hold: names, reading within bounds, writing whole or not at all."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.files.archives import LARGEST as LARGEST
    from pdfalearn.files.archives import Array as Array
    from pdfalearn.files.archives import Arrays as Arrays
    from pdfalearn.files.archives import Member as Member
    from pdfalearn.files.archives import arrays_of_value as arrays_of_value
    from pdfalearn.files.archives import check_members as check_members
    from pdfalearn.files.archives import check_range as check_range
    from pdfalearn.files.archives import check_sizes as check_sizes
    from pdfalearn.files.archives import open_archive as open_archive
    from pdfalearn.files.archives import read_array as read_array
    from pdfalearn.files.archives import write_archive as write_archive
    from pdfalearn.files.json_text import check_keys as check_keys
    from pdfalearn.files.json_text import check_kind as check_kind
    from pdfalearn.files.json_text import is_number as is_number
    from pdfalearn.files.json_text import parse_json as parse_json
    from pdfalearn.files.json_text import parse_object as parse_object
    from pdfalearn.files.json_text import strings as strings
    from pdfalearn.files.json_text import write_json_text as write_json_text
    from pdfalearn.files.json_text import wrong as wrong
    from pdfalearn.files.named import check_can_write as check_can_write
    from pdfalearn.files.named import check_name as check_name
    from pdfalearn.files.named import lock_file as lock_file
    from pdfalearn.files.named import read_named as read_named
    from pdfalearn.files.named import replacing as replacing
    from pdfalearn.files.named import show_name as show_name
    from pdfalearn.files.named import write_named as write_named
    from pdfalearn.files.texts import at_line as at_line
    from pdfalearn.files.texts import number_in as number_in
    from pdfalearn.files.texts import read_all as read_all
    from pdfalearn.files.texts import read_gzipped as read_gzipped
    from pdfalearn.files.texts import read_lines as read_lines
    from pdfalearn.files.texts import show_field as show_field
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
